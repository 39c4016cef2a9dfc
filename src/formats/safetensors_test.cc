#include "formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::formats {
namespace {

// A file as text from a header and data.
std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t bytes = header.size();
  return std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + header + data;
}

Result<std::vector<TensorView>> parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)));
}

std::string error_of(const std::string& file) {
  const auto result = parse(file);
  return result ? "none" : result.error().message;
}

const std::string kTwo = R"({"b":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                         R"("a":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}})";

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  const std::string file = file_of(kTwo + "   ", "12345678ab");
  const auto result = parse(file);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 2u);
  EXPECT_EQ(result.value()[0].name, "b");
  EXPECT_EQ(result.value()[0].shape, (Shape{1, 2}));
  EXPECT_EQ(result.value()[1].dtype, DType::kBF16);
  EXPECT_EQ(std::memcmp(result.value()[1].bytes.data(), "ab", 2), 0);
}

TEST(Safetensors, AllowsEmptyTensorsAndAnEmptyFile) {
  EXPECT_EQ(error_of(file_of("{}", "")), "none");
  EXPECT_EQ(error_of(file_of(R"({"a":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]}})", "")),
            "none");
}

struct BadFile {
  const char* name;
  std::string file;
  const char* message;
};

TEST(Safetensors, RefusesWhateverBreaksARule) {
  const auto one = [](const std::string& body, const std::string& data) {
    return file_of("{\"a\":{" + body + "}}", data);
  };
  const BadFile files[] = {
      {"too short", "1234567", "too few"},
      {"length beyond file", file_of(kTwo, "").substr(0, 20), "cut short"},
      {"data cut", file_of(kTwo, "12345678a"), "are outside"},
      {"trailing data", file_of(kTwo, "12345678abc"), "the tensors end at 10 of 11"},
      {"leading space", file_of(" {}", ""), "does not start with {"},
      {"array", file_of("[]", ""), "does not start with {"},
      {"no JSON", file_of("{\"a\"}", ""), "header: "},
      {"repeated tensor", file_of(R"({"a":1,"a":2})", ""), "appears twice"},
      {"dtype", one(R"("dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1])", "x"), "F8_E4M3"},
      {"negative", one(R"("dtype":"U8","shape":[-1],"data_offsets":[0,1])", "x"), "whole number"},
      {"overflow", one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])", ""),
       "overflows"},
      {"byte overflow",
       one(R"("dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0])", ""),
       "does not take the number of bytes"},
      {"size", one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", "1234"),
       "f32 [2] does not take the number of bytes"},
      {"backwards", one(R"("dtype":"U8","shape":[0],"data_offsets":[1,0])", "x"), "outside"},
      {"hole", one(R"("dtype":"U8","shape":[1],"data_offsets":[1,2])", "xy"), "0 was expected"},
      {"overlap",
       file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
               R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
               "xyz"),
       "begins at 1"},
      {"extra key", one(R"("dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1)", "x"),
       "nothing else"},
      {"metadata", file_of(R"({"__metadata__":{"a":1}})", ""), "is not a string"},
      {"long name",
       file_of(
           "{\"" + std::string(1025, 'n') + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
           "x"),
       "longer than 1024"},
  };
  for (const BadFile& bad : files) {
    EXPECT_NE(error_of(bad.file).find(bad.message), std::string::npos)
        << bad.name << ": " << error_of(bad.file);
  }
}

TEST(Safetensors, NeverBelievesACutFile) {
  const std::string file = file_of(kTwo, "12345678ab");
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(error_of(file.substr(0, size)), "none") << size;
  }
}

TEST(Safetensors, WritesWhatItReads) {
  const std::string path = testing::TempDir() + "safetensors_test.safetensors";
  const float weight[] = {1.5f, -2.0f, 0.25f};
  const int64_t step[] = {7};
  const std::vector<TensorView> tensors = {
      {"weight", DType::kF32, Shape{3, 1}, std::as_bytes(std::span(weight))},
      {"step", DType::kI64, Shape{}, std::as_bytes(std::span(step))}};
  write_safetensors(path, tensors);
  const std::vector<TensorSource> sources = {source_of(tensors[0]), source_of(tensors[1])};
  EXPECT_LE(std::filesystem::file_size(path), safetensors_file_bytes(sources));

  const SafetensorsFile file{path};
  EXPECT_NE(platform::read_file(path).find(R"("__metadata__":{"format":"pt"})"), std::string::npos);
  EXPECT_EQ(file.tensors()[0].name, "step");  // the larger element first
  const TensorView* found = file.find("weight");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::memcmp(found->bytes.data(), weight, sizeof weight), 0);
  EXPECT_EQ(file.find("bias"), nullptr);
  std::filesystem::remove(path);
}

TEST(Safetensors, FileErrorNamesFileAndOffset) {
  const std::string path = testing::TempDir() + "safetensors_test_bad.safetensors";
  platform::write_file_atomically(path, file_of("{\"a\":nul}", ""));
  try {
    const SafetensorsFile file{path};
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find(path + " at byte 1"), 0u) << error.what();
  }
  std::filesystem::remove(path);
}

TEST(Safetensors, ReadsATransformersCheckpoint) {
  const DataFolder data({"checkpoints/hf_tiny_safetensors"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const SafetensorsFile file{data / "checkpoints/hf_tiny_safetensors/model.safetensors"};
  EXPECT_NE(file.find("embeddings.word_embeddings.weight"), nullptr);
}

}  // namespace
}  // namespace cloze::formats
