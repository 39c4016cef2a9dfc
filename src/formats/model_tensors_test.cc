#include "formats/model_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/torch";

TEST(ModelTensorsTest, EveryFormHoldsTheSame) {
  const ModelTensors expected(kFixtures);  // its model.safetensors
  EXPECT_EQ(expected.path(), kFixtures / "model.safetensors");
  for (const char* name : {"zip.bin", "legacy.bin", "sharded"}) {
    const ModelTensors model(kFixtures / name);
    ASSERT_EQ(model.tensors().size(), expected.tensors().size()) << name;
    for (const TensorView& tensor : expected.tensors()) {
      const TensorView* found = find_tensor(model.tensors(), tensor.name);
      ASSERT_NE(found, nullptr) << tensor.name;
      EXPECT_TRUE(std::ranges::equal(found->bytes, tensor.bytes)) << name << " " << tensor.name;
    }
  }
}

TEST(ModelTensorsTest, TensorFlowCheckpointsKeepTheirNames) {
  const fs::path folder = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google";
  for (const fs::path& path : {folder, folder / "bert_model.ckpt"}) {
    const ModelTensors model(path);
    EXPECT_EQ(model.path(), folder / "bert_model.ckpt");
    const auto found =
        std::ranges::find(model.tensors(), "bert/embeddings/LayerNorm/gamma", &TensorView::name);
    ASSERT_NE(found, model.tensors().end());
    EXPECT_EQ(found->shape, Shape{4});
  }
}

class ModelTensorsFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_model_tensors_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string refusal() const {
    try {
      ModelTensors{folder_};
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  }
  void write_index(const std::string& text) const {
    platform::write_file_atomically(folder_ / "model.safetensors.index.json", text);
  }

  fs::path folder_;
};

TEST_F(ModelTensorsFolderTest, SaysWhatIsMissing) {
  EXPECT_NE(refusal().find("holds neither model.safetensors nor pytorch_model.bin"),
            std::string::npos);
  EXPECT_THROW(ModelTensors{folder_ / "absent"}, UserError);
}

TEST_F(ModelTensorsFolderTest, BadIndexesAreRefused) {
  write_index("{}");
  EXPECT_NE(refusal().find("has no weight_map"), std::string::npos);
  write_index("{\"weight_map\": {\"a\": \"../model.safetensors\"}}");
  EXPECT_NE(refusal().find("a is in no file of this folder"), std::string::npos);
  fs::copy_file(kFixtures / "model.safetensors", folder_ / "one.safetensors");
  write_index("{\"weight_map\": {\"a\": \"one.safetensors\"}}");
  EXPECT_NE(refusal().find("a is not in one.safetensors"), std::string::npos);
  fs::copy_file(kFixtures / "model.safetensors", folder_ / "two.safetensors");
  write_index(
      "{\"weight_map\": {\"bert.half\": \"one.safetensors\", \"bert.double\": "
      "\"two.safetensors\"}}");
  EXPECT_NE(refusal().find("is stored twice"), std::string::npos);
}

}  // namespace
}  // namespace cloze::formats
