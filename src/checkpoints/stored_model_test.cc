#include "checkpoints/stored_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint";

TEST(StoredModel, HasOurNamesWhateverTheForm) {
  const StoredModel ours(kFixtures / "model.safetensors");
  EXPECT_FALSE(ours.is_tensorflow());
  for (const char* path : {"google/bert_model.ckpt", "graphcore"}) {
    const StoredModel model(kFixtures / path);
    EXPECT_TRUE(model.is_tensorflow());
    EXPECT_EQ(model.tensors().size(), ours.tensors().size());
    for (const formats::TensorView& tensor : ours.tensors()) {
      const formats::TensorView* found = model.find(tensor.name);
      ASSERT_NE(found, nullptr) << tensor.name;
      EXPECT_TRUE(std::ranges::equal(found->bytes, tensor.bytes)) << tensor.name;
    }
  }
  EXPECT_EQ(StoredModel(kFixtures / "google").training_state().size(), 93u);
  EXPECT_EQ(StoredModel(kFixtures / "google").global_step(), 1234);
  EXPECT_EQ(StoredModel(kFixtures / "graphcore").global_step(), std::nullopt);
}

TEST(StoredModel, KnowsWhoseNamesTheFileHas) {
  EXPECT_EQ(StoredModel(kFixtures / "google").tensorflow_names(), TensorflowNames::kGoogle);
  EXPECT_EQ(StoredModel(kFixtures / "graphcore").tensorflow_names(), TensorflowNames::kGraphcore);
  EXPECT_EQ(StoredModel(kFixtures / "model.safetensors").tensorflow_names(), std::nullopt);
}

TEST(StoredModel, KnowsWhichFilesAreItsOwn) {
  EXPECT_EQ(StoredModel(kFixtures / "google").other_files(),
            (std::vector<std::string>{"bert_config.json", "vocab.txt"}));
  EXPECT_EQ(StoredModel(kFixtures / "model.safetensors").other_files(),
            (std::vector<std::string>{"google", "graphcore"}));
  const fs::path torch = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/torch";
  EXPECT_TRUE(StoredModel(torch / "sharded").other_files().empty());
}

TEST(StoredModel, FindsItsConfiguration) {
  const fs::path google = kFixtures / "google";
  EXPECT_EQ(configuration_of(google), google / "bert_config.json");
  EXPECT_EQ(configuration_of(google / "bert_model.ckpt"), google / "bert_config.json");
  EXPECT_EQ(StoredModel(google).folder(), google);
  EXPECT_EQ(folder_of("model.ckpt"), ".");
  try {
    configuration_of(kFixtures);
    FAIL() << "there is none";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              kFixtures.string() +
                  " holds neither config.json nor bert_config.json; put one beside the weights");
  }
}

}  // namespace
}  // namespace cloze::checkpoints
