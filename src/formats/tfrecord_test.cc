#include "formats/tfrecord.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/data_folder_test.h"
#include "platform/files/file.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Three records: 5, 0 and 300 bytes.
std::string small_file() {
  const fs::path path = fs::path(testing::TempDir()) /
                        (std::string("cloze_tfrecord_") +
                         testing::UnitTest::GetInstance()->current_test_info()->name());
  TfRecordWriter writer(path);
  writer.append(bytes_of("hello"));
  writer.append({});
  writer.append(bytes_of(std::string(300, 'x')));
  writer.commit();
  std::string bytes = platform::read_file(path);
  fs::remove(path);
  return bytes;
}

// How many records can be read to the end, or -1 when any part of the file is refused.
int readable_records(std::string_view file) {
  const auto index = index_tfrecords(bytes_of(file));
  if (index.broken_end) {
    EXPECT_LE(index.broken_end->offset, file.size());
    return -1;
  }
  for (uint64_t offset : index.offsets) {
    if (!tfrecord_payload(bytes_of(file), offset)) return -1;
  }
  return static_cast<int>(index.offsets.size());
}

TEST(TfRecordTest, WriterAndReaderAgree) {
  const std::string file = small_file();
  const auto index = index_tfrecords(bytes_of(file));
  ASSERT_FALSE(index.broken_end);
  EXPECT_EQ(index.offsets, (std::vector<uint64_t>{0, 21, 37}));
  EXPECT_EQ(text_of(*tfrecord_payload(bytes_of(file), 0)), "hello");
  EXPECT_EQ(text_of(*tfrecord_payload(bytes_of(file), 21)), "");
  EXPECT_EQ(text_of(*tfrecord_payload(bytes_of(file), 37)), std::string(300, 'x'));
}

TEST(TfRecordTest, EmptyFileHasNoRecords) { EXPECT_EQ(readable_records(""), 0); }

TEST(TfRecordTest, EveryTruncationIsSeenExceptBetweenRecords) {
  const std::string file = small_file();
  for (size_t size = 0; size <= file.size(); ++size) {
    const int expected = size == 0             ? 0
                         : size == 21          ? 1
                         : size == 37          ? 2
                         : size == file.size() ? 3
                                               : -1;
    EXPECT_EQ(readable_records(file.substr(0, size)), expected) << "cut to " << size << " bytes";
  }
}

TEST(TfRecordTest, EveryFlippedBitIsSeen) {
  const std::string file = small_file();
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string corrupt = file;
    corrupt[bit / 8] = static_cast<char>(corrupt[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(readable_records(corrupt), -1) << "bit " << bit;
  }
}

TEST(TfRecordTest, ErrorNamesTheRecordsOffset) {
  std::string file = small_file();
  file[37 + 20] ^= 1;
  const auto payload = tfrecord_payload(bytes_of(file), 37);
  ASSERT_FALSE(payload);
  EXPECT_EQ(payload.error().offset, 37u);
  EXPECT_EQ(payload.error().message, "the checksum of a record's payload is wrong");
}

TEST(TfRecordTest, HugeLengthIsRefusedEvenWithARightChecksum) {
  // Length 2^40 with its checksum, computed by the writer's own rule on a crafted header.
  const fs::path path = fs::path(testing::TempDir()) / "cloze_tfrecord_huge";
  std::string header("\0\0\0\0\0\1\0\0", 8);
  TfRecordWriter writer(path);
  writer.append(bytes_of(header));
  writer.commit();
  std::string file = platform::read_file(path);
  fs::remove(path);
  // The payload's checksum is that of the eight bytes: use it as the length's.
  const std::string crafted = header + file.substr(20, 4) + std::string(64, 'x');
  const auto frame = tfrecord_frame(bytes_of(crafted), 0);
  ASSERT_FALSE(frame);
  EXPECT_NE(frame.error().message.find("1099511627776"), std::string::npos);
}

TEST(TfRecordTest, ReadsFilesThatTensorFlowWrote) {
  const DataFolder data({"golden/tfrecord"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path folder = data / "golden/tfrecord";
  const std::pair<const char*, int> files[] = {{"graphcore_sample_text.tfrecord", 45},
                                               {"graphcore_sample_text_packed.tfrecord", 44},
                                               {"vincentcheny_tf_examples.tfrecord", 60}};
  for (const auto& [name, records] : files) {
    EXPECT_EQ(readable_records(platform::read_file(folder / name)), records) << name;
  }
}

}  // namespace
}  // namespace cloze::formats
