#include "formats/tensorboard.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/tfrecord.h"
#include "platform/files/file.h"

namespace cloze::formats {
namespace {

std::vector<std::string> payloads_of(const std::filesystem::path& path) {
  const std::string file = platform::read_file(path);
  const auto bytes = std::as_bytes(std::span(file));
  const auto index = index_tfrecords(bytes);
  EXPECT_FALSE(index.broken_end);
  std::vector<std::string> payloads;
  for (const uint64_t offset : index.offsets) {
    const auto payload = tfrecord_payload(bytes, offset);
    payloads.emplace_back(reinterpret_cast<const char*>(payload->data()), payload->size());
  }
  return payloads;
}

TEST(TensorBoard, WritesVersionSessionAndScalars) {
  const std::filesystem::path folder = testing::TempDir() + "tensorboard_test";
  std::filesystem::remove_all(folder);
  {
    TensorBoardWriter writer(folder);
    EXPECT_EQ(writer.path().filename().string().find("events.out.tfevents."), 0u);
    writer.write_session_start(5);
    writer.write_scalars(5, std::vector<Scalar>{{"loss/MLM", 1.0}, {"loss/NSP", 0.5}});
    const std::vector<std::string> payloads = payloads_of(writer.path());
    ASSERT_EQ(payloads.size(), 3u);
    EXPECT_NE(payloads[0].find("brain.Event:2"), std::string::npos);
    EXPECT_TRUE(payloads[1].ends_with(std::string("\x10\x05\x3a\x02\x08\x01", 6)));
    // Value{tag "loss/MLM", simple_value 1.0}: field 1 text of 8 bytes, field 2 the float.
    EXPECT_NE(payloads[2].find(std::string("\x0a\x08loss/MLM\x15\x00\x00\x80\x3f", 15)),
              std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST(TensorBoard, WritesZeros) {
  const std::filesystem::path folder = testing::TempDir() + "tensorboard_test_zero";
  std::filesystem::remove_all(folder);
  TensorBoardWriter writer(folder);
  writer.write_scalars(1, std::vector<Scalar>{{"accuracy/MLM", 0.0}});
  EXPECT_TRUE(payloads_of(writer.path())[1].ends_with(std::string("\x15\0\0\0\0", 5)));
  std::filesystem::remove_all(folder);
}

TEST(TensorBoard, TwoWritersDoNotShareAFile) {
  const std::filesystem::path folder = testing::TempDir() + "tensorboard_test_two";
  const TensorBoardWriter first(folder);
  const TensorBoardWriter second(folder);
  EXPECT_NE(first.path(), second.path());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cloze::formats
