
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "formats/json.h"
#include "formats/model_tensors.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

class ModelFolderShardsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_safetensors_shards_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    for (const char* name : {"a", "b", "c", "d"}) {
      const Shape shape{*name == 'c' ? 10 : 2};
      tensors_.push_back(
          {name, DType::kF32, shape, std::as_bytes(std::span(values_).first(shape.elements()))});
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  const std::vector<float> values_ = std::vector<float>(10, 1.5f);
  std::vector<TensorView> tensors_;
  fs::path folder_;
};

TEST_F(ModelFolderShardsTest, OneFileWhenItFits) {
  EXPECT_EQ(write_model_folder(folder_, tensors_, 0),
            std::vector<std::string>{"model.safetensors"});
  EXPECT_EQ(write_model_folder(folder_, tensors_, 64),
            std::vector<std::string>{"model.safetensors"});
}

TEST_F(ModelFolderShardsTest, ShardsAndAnIndexWhenNot) {
  const std::vector<std::string> files = write_model_folder(folder_, tensors_, 16);
  EXPECT_EQ(files, (std::vector<std::string>{
                       "model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                       "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  const auto index = read_json_file(folder_ / files.back());
  EXPECT_EQ(index["metadata"]["total_size"], 64);
  EXPECT_EQ(index["weight_map"]["b"], files[0]);
  EXPECT_EQ(index["weight_map"]["c"], files[1]) << "larger than a shard, alone in its own";
  EXPECT_EQ(index["weight_map"]["d"], files[2]);
  const ModelTensors model(folder_);
  for (const TensorView& tensor : tensors_) {
    EXPECT_TRUE(std::ranges::equal(find_tensor(model.tensors(), tensor.name)->bytes, tensor.bytes));
  }
}

TEST(ShardBytes, ReadsUnits) {
  EXPECT_EQ(shard_bytes("1000"), 1000u);
  EXPECT_EQ(shard_bytes("5GB"), 5'000'000'000u);
  for (const char* text : {"", "0", "-1", "5gb", "99999999999999999999"}) {
    EXPECT_THROW(shard_bytes(text), UserError) << text;
  }
}

}  // namespace
}  // namespace cloze::formats
