#include "formats/decompression.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "base/error.h"

namespace cloze::formats {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

std::string zstandard(std::string_view text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  bytes.resize(ZSTD_compress2(context, bytes.data(), bytes.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return bytes;
}

std::string decompressed(std::string_view bytes) {
  const auto view = std::as_bytes(std::span(bytes.data(), bytes.size()));
  std::string text;
  decompress(compression_of(view), view, "f", [&](std::string_view piece) { text += piece; });
  return text;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += std::to_string(int64_t{i} * 7919 % 10007);
  return text;
}

TEST(DecompressionTest, MembersAndFramesFollowEachOther) {
  const std::string text = long_text();
  for (const auto& compress : {gzip, zstandard}) {
    EXPECT_TRUE(decompressed(compress(text)) == text);
    EXPECT_TRUE(decompressed(compress("one ") + compress("two ") + compress(text)) ==
                "one two " + text);
    EXPECT_EQ(decompressed(compress("")), "");
  }
  const std::string skippable("\x5F\x2A\x4D\x18\x03\0\0\0abc", 11);  // as pzstd begins
  EXPECT_EQ(decompressed(skippable + zstandard("one ") + skippable + zstandard("two")), "one two");
  EXPECT_EQ(compression_of(std::as_bytes(std::span("plain"))), Compression::kNone);
  EXPECT_EQ(compression_of({}), Compression::kNone);
}

TEST(DecompressionTest, EveryTruncationAndDamagedByteIsADataError) {
  for (const auto& compress : {gzip, zstandard}) {
    const std::string text = "It rains. It pours. It rains again, and again it pours. 0123456789";
    const std::string good = compress(text);
    for (size_t size = 4; size < good.size(); ++size) {
      EXPECT_THROW(decompressed(good.substr(0, size)), DataError) << size;
    }
    for (size_t i = 4; i < good.size(); ++i) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
      try {
        EXPECT_EQ(decompressed(bytes), text) << "byte " << i;  // a time stamp, a system's number
      } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find("f: compressed byte "), std::string::npos);
      }
    }
    EXPECT_THROW(decompressed(good + "rubbish"), DataError);
  }
}

TEST(DecompressionTest, ZerosAfterTheLastMemberAreNoMember) {
  const std::string zeros(512, '\0');
  EXPECT_EQ(decompressed(gzip("one ") + gzip("two") + zeros), "one two");
  EXPECT_THROW(decompressed(gzip("one ") + zeros + gzip("two")), DataError);
}

// By hand: a window of 256 MiB, and a last block of three bytes as they are.
TEST(DecompressionTest, WindowsBeyondTheUsualAreTaken) {
  using namespace std::string_literals;
  EXPECT_EQ(decompressed("\x28\xB5\x2F\xFD\x00\x90\x19\x00\x00"s + "abc"), "abc");
}

}  // namespace
}  // namespace cloze::formats
