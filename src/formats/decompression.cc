#include "formats/decompression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/error.h"

namespace cloze::formats {
namespace {

using Visit = std::function<void(std::string_view)>;

constexpr size_t kOutputBytes = 1 << 20;
constexpr size_t kInputBytes = 1 << 30;      // zlib counts what it is given in 32 bits
constexpr int kLargestZstandardWindow = 31;  // log2 of its bytes: what zstd --long=31 writes
constexpr std::array<std::byte, 2> kGzipMagic{std::byte{0x1F}, std::byte{0x8B}};
constexpr std::array<std::byte, 4> kZstandardMagic{std::byte{0x28}, std::byte{0xB5},
                                                   std::byte{0x2F}, std::byte{0xFD}};

// A file of several frames, as pzstd writes it, may begin with one that holds no data.
// Source: RFC 8878, 3.1.2: 0x184D2A50 to 0x184D2A5F, lowest byte first.
bool begins_with_skippable_frame(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && (bytes[0] & std::byte{0xF0}) == std::byte{0x50} &&
         bytes[1] == std::byte{0x2A} && bytes[2] == std::byte{0x4D} && bytes[3] == std::byte{0x18};
}

template <size_t kSize>
bool begins_with(std::span<const std::byte> bytes, const std::array<std::byte, kSize>& magic) {
  return bytes.size() >= kSize && std::ranges::equal(bytes.first(kSize), magic);
}

[[noreturn]] void fail(const std::filesystem::path& file, size_t offset, std::string_view what) {
  throw_data_error("{}: compressed byte {}: {}; is the file complete?", file.string(), offset,
                   what);
}

// Archives on tape and on some disks have padding after the last member.
bool is_padding(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

void decompress_gzip(std::span<const std::byte> bytes, const std::filesystem::path& file,
                     const Visit& visit) {
  constexpr int kGzipWindow = 15 + 16;  // the largest, with gzip's header
  z_stream stream{};
  CLOZE_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK, "zlib does not start");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> closer(&stream, &inflateEnd);
  std::vector<char> output(kOutputBytes);
  size_t begin = 0;
  int status = Z_OK;
  while (begin < bytes.size() || status != Z_STREAM_END) {
    if (status == Z_STREAM_END) {
      if (is_padding(bytes.subspan(begin))) return;
      inflateReset(&stream);  // another member
    }
    const size_t given = std::min(kInputBytes, bytes.size() - begin);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + begin));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    status = inflate(&stream, Z_NO_FLUSH);
    begin += given - stream.avail_in;
    const size_t made = output.size() - stream.avail_out;
    if (status == Z_BUF_ERROR || (status == Z_OK && given == 0 && made == 0)) {
      fail(file, begin, "ends too soon");
    }
    if (status != Z_OK && status != Z_STREAM_END) {
      fail(file, begin, stream.msg == nullptr ? "is damaged" : stream.msg);
    }
    visit({output.data(), made});
  }
}

void decompress_zstandard(std::span<const std::byte> bytes, const std::filesystem::path& file,
                          const Visit& visit) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kLargestZstandardWindow);
  std::vector<char> output(kOutputBytes);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t left = 1;  // 0 at the end of a frame
  while (in.pos < in.size || left != 0) {
    const size_t before = in.pos;
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) fail(file, in.pos, ZSTD_getErrorName(left));
    if (left != 0 && in.pos == before && out.pos == 0) fail(file, in.pos, "ends too soon");
    visit({output.data(), out.pos});
  }
}

}  // namespace

Compression compression_of(std::span<const std::byte> bytes) {
  if (begins_with(bytes, kGzipMagic)) return Compression::kGzip;
  const bool is_zstandard =
      begins_with(bytes, kZstandardMagic) || begins_with_skippable_frame(bytes);
  return is_zstandard ? Compression::kZstandard : Compression::kNone;
}

void decompress(Compression compression, std::span<const std::byte> bytes,
                const std::filesystem::path& file, const Visit& visit) {
  CLOZE_CHECK(compression != Compression::kNone, "{} is not compressed", file.string());
  compression == Compression::kGzip ? decompress_gzip(bytes, file, visit)
                                    : decompress_zstandard(bytes, file, visit);
}

}  // namespace cloze::formats
