#include "checkpoints/stored_variant.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "base/error.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures";

class StoredVariant : public platform::OwnFolderTest {
 protected:
  // The model's folder, whose configuration names this type.
  fs::path copied(const char* fixture, const char* model_type) const {
    const fs::path model = folder_ / "model";
    fs::copy(kFixtures / fixture, model);
    auto config = formats::read_json_file(model / "config.json");
    config["model_type"] = model_type;
    platform::write_file_atomically(model / "config.json", config.dump());
    return model;
  }
};

std::string refusal(const fs::path& model, bool groupbert) {
  try {
    require_variant(StoredModel(model), groupbert);
  } catch (const UserError& error) {
    return error.what();
  }
  return "taken";
}

TEST_F(StoredVariant, IsToldByTheLayers) {
  EXPECT_EQ(holds_groupbert(StoredModel(kFixtures / "groupbert_pretraining").tensors()), true);
  EXPECT_EQ(holds_groupbert(StoredModel(kFixtures / "bert_pretraining_a").tensors()), false);
  EXPECT_EQ(holds_groupbert(StoredModel(kFixtures / "tf_checkpoint/graphcore").tensors()), false);
  EXPECT_EQ(holds_groupbert({}), std::nullopt);
}

TEST_F(StoredVariant, TheConfigurationOfTheOtherIsNamed) {
  const fs::path model = copied("groupbert_pretraining", "bert");
  EXPECT_EQ(refusal(model, false), (model / "config.json").string() + " describes a BERT, but " +
                                       (model / "model.safetensors").string() +
                                       " holds a GroupBERT; correct it, or take another "
                                       "checkpoint");
  EXPECT_EQ(refusal(model, true), "taken");
}

TEST_F(StoredVariant, ARunOfTheOtherIsNotBlamedOnTheFile) {
  const fs::path model = kFixtures / "bert_pretraining_a";
  EXPECT_EQ(refusal(model, true), "the configuration of this run describes a GroupBERT, but " +
                                      (model / "model.safetensors").string() +
                                      " holds a BERT; correct it, or take another checkpoint");
  EXPECT_EQ(refusal(model, false), "taken");
}

// Optimum's class has a mixer at any number of groups.
TEST_F(StoredVariant, AMixerOfOneGroupIsRefused) {
  const std::string layer = "bert.encoder.layer.0.";
  const std::vector<float> zeros(64 * 32);
  const auto refusal_at = [&](int64_t groups) {
    const auto tensor = [&](const std::string& name, Shape shape) {
      return formats::TensorView{
          .name = layer + name,
          .shape = shape,
          .bytes = std::as_bytes(std::span(zeros).first(static_cast<size_t>(shape.elements())))};
    };
    const std::vector<formats::TensorView> tensors = {
        tensor("convolution.prenorm.weight", {32}),
        tensor("intermediate_second.dense.weight", {64, 32}),
        tensor("output_second.grouped_matmul.weight", {32, 64 / groups, 1}),
        tensor("output_second.dense_output_projection.weight", {32, 32})};
    formats::write_safetensors(folder_ / "model.safetensors", tensors);
    return refusal(folder_ / "model.safetensors", true);
  };
  EXPECT_EQ(refusal_at(4), "taken");
  EXPECT_EQ(refusal_at(2), "taken");
  EXPECT_EQ(refusal_at(1),
            (folder_ / "model.safetensors").string() + " has " + layer +
                "output_second.dense_output_projection.weight after a product of one group, which "
                "a GroupBERT here mixes only from two groups on; take a model with more groups, or "
                "one without that tensor");
}

}  // namespace
}  // namespace cloze::checkpoints
