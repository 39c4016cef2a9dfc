#include "checkpoints/tensorflow_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "formats/tf_checkpoint.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;
using formats::TensorView;

// Made by scripts/make_tf_checkpoint_fixtures: one model in three forms.
const fs::path kFixtures = fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint";

void expect_same(std::span<const TensorView> actual, std::span<const TensorView> expected) {
  std::map<std::string, const TensorView*> wanted;
  for (const TensorView& tensor : expected) wanted[tensor.name] = &tensor;
  EXPECT_EQ(actual.size(), wanted.size());
  for (const TensorView& tensor : actual) {
    ASSERT_TRUE(wanted.contains(tensor.name)) << tensor.name;
    EXPECT_EQ(tensor.shape, wanted[tensor.name]->shape) << tensor.name;
    EXPECT_TRUE(std::ranges::equal(tensor.bytes, wanted[tensor.name]->bytes)) << tensor.name;
  }
}

TEST(TensorflowTensors, BothKindsBecomeOurs) {
  const formats::SafetensorsFile ours(kFixtures / "model.safetensors");
  const formats::TfCheckpoint google(kFixtures / "google/bert_model.ckpt");
  const ConvertedTensors from_google = from_tensorflow(google.tensors());
  expect_same(from_google.tensors, ours.tensors());
  EXPECT_EQ(from_google.training_state.size(), 93u);
  EXPECT_TRUE(from_google.unknown.empty());
  const formats::TfCheckpoint graphcore(kFixtures / "graphcore/model.ckpt");
  expect_same(from_tensorflow(graphcore.tensors()).tensors, ours.tensors());
}

// A moment becomes what its tensor would: as if the moments were the weights.
TEST(TensorflowTensors, MomentsAreLaidOutAsTheirTensors) {
  const formats::TfCheckpoint google(kFixtures / "google/bert_model.ckpt");
  const ConvertedTensors moments = moments_from_tensorflow(google.tensors());
  EXPECT_TRUE(moments.unknown.empty());
  EXPECT_EQ(moments.tensors.size(), 92u);
  for (const char moment : {'m', 'v'}) {
    std::vector<TensorView> as_weights;
    for (const TensorView& tensor : google.tensors()) {
      const std::string slot = std::string("/adam_") + moment;
      if (!tensor.name.ends_with(slot)) continue;
      as_weights.push_back(tensor);
      as_weights.back().name.resize(tensor.name.size() - slot.size());
    }
    std::vector<TensorView> found;
    const std::string prefix = std::string("optimizer.") + moment + ".";
    for (const TensorView& tensor : moments.tensors) {
      if (!tensor.name.starts_with(prefix)) continue;
      found.push_back(tensor);
      found.back().name.erase(0, prefix.size());
    }
    expect_same(found, from_tensorflow(as_weights).tensors);
  }
}

TEST(TensorflowTensors, OursBecomeBothKinds) {
  const formats::SafetensorsFile ours(kFixtures / "model.safetensors");
  const formats::TfCheckpoint google(kFixtures / "google/bert_model.ckpt");
  std::vector<TensorView> weights = google.tensors();
  std::erase_if(weights, [](const TensorView& t) { return is_training_state(t.name); });
  expect_same(to_tensorflow(ours.tensors(), {}).tensors, weights);
  const formats::TfCheckpoint graphcore(kFixtures / "graphcore/model.ckpt");
  expect_same(to_tensorflow(
                  ours.tensors(),
                  {.names = TensorflowNames::kGraphcore, .fuses_qkv = true, .num_word_tables = 11})
                  .tensors,
              graphcore.tensors());
  EXPECT_THROW(to_tensorflow(ours.tensors(), {.num_word_tables = 5}), UserError);
}

// There and back in each form; without the bias of the key, which is then zeros.
TEST(TensorflowTensors, GroupBertComesBackFromEveryForm) {
  for (const char* name : {"groupbert_pretraining", "groupbert_question_answering"}) {
    const formats::SafetensorsFile ours(fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures" / name /
                                        "model.safetensors");
    for (const auto names :
         {TensorflowNames::kGoogle, TensorflowNames::kGraphcore, TensorflowNames::kResearch}) {
      const ConvertedTensors there = to_tensorflow(ours.tensors(), {.names = names});
      EXPECT_TRUE(there.unknown.empty());
      expect_same(from_tensorflow(there.tensors).tensors, ours.tensors());
      std::vector<TensorView> without_key = there.tensors;
      std::erase_if(without_key,
                    [](const TensorView& tensor) { return tensor.name.ends_with("key/bias"); });
      EXPECT_LT(without_key.size(), there.tensors.size());
      const ConvertedTensors back = from_tensorflow(without_key);
      EXPECT_EQ(back.tensors.size(), ours.tensors().size());
      const TensorView* bias =
          formats::find_tensor(back.tensors, "bert.encoder.layer.0.attention.self.key.bias");
      ASSERT_NE(bias, nullptr);
      EXPECT_EQ(std::ranges::count(bias->bytes, std::byte{0}), std::ssize(bias->bytes));
    }
  }
}

const std::vector<float> kValues = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

TensorView tensor(const char* name, Shape shape) {
  const auto elements = static_cast<size_t>(shape.elements());
  return {name, DType::kF32, std::move(shape), std::as_bytes(std::span(kValues).first(elements))};
}

std::string refusal(const std::vector<TensorView>& tensors) {
  try {
    from_tensorflow(tensors);
  } catch (const DataError& error) {
    return error.what();
  }
  return "taken";
}

// The bias that Graphcore's own converter writes, and its model never reads.
TEST(TensorflowTensors, JoinedBiasesAreTakenApart) {
  const ConvertedTensors converted =
      from_tensorflow(std::vector{tensor("bert/encoder/layer_3/attention/self/qkv_bias", {6})});
  ASSERT_EQ(converted.tensors.size(), 3u);
  EXPECT_EQ(converted.tensors[2].name, "bert.encoder.layer.3.attention.self.value.bias");
  EXPECT_EQ(converted.tensors[2].shape, Shape{2});
  EXPECT_EQ(converted.tensors[2].bytes.data(), std::as_bytes(std::span(kValues)).data() + 16);
}

TEST(TensorflowTensors, WhatIsUnknownIsNamed) {
  const ConvertedTensors converted = from_tensorflow(std::vector{
      tensor("none/bert/pooler/dense/bias", {2}), tensor("x/attention/self/qkv_bias", {3})});
  EXPECT_TRUE(converted.tensors.empty());
  EXPECT_EQ(converted.unknown,
            (std::vector<std::string>{"none/bert/pooler/dense/bias", "x/attention/self/qkv_bias"}));
  EXPECT_EQ(to_tensorflow(std::vector{tensor("lm_head.bias", {2})}, {}).unknown,
            std::vector<std::string>{"lm_head.bias"});
}

TEST(TensorflowTensors, ImpossibleShapesAreRefused) {
  EXPECT_EQ(refusal({tensor("bert/pooler/dense/kernel", {2})}),
            "tensor bert/pooler/dense/kernel is [2], where a matrix is expected");
  EXPECT_EQ(refusal({tensor("bert/encoder/layer_0/attention/self/kernel/qkv_weight", {2, 4})}),
            "tensor bert/encoder/layer_0/attention/self/kernel/qkv_weight is [2, 4], where three "
            "equal parts are expected");
  EXPECT_EQ(refusal({tensor("bert/encoder/layer_0/attention/self/qkv_bias", {})}),
            "tensor bert/encoder/layer_0/attention/self/qkv_bias is [], where three equal parts "
            "are expected");
  EXPECT_EQ(refusal({tensor("bert/embeddings/s0/word_embeddings", {2, 2}),
                     tensor("bert/embeddings/s1/word_embeddings", {2, 3})}),
            "tensors bert/embeddings/s0/word_embeddings and bert/embeddings/s1/word_embeddings are "
            "not parts of one tensor: f32 [2, 2] and f32 [2, 3]");
}

TEST(TensorflowTensors, MissingAndDoublePartsAreRefused) {
  EXPECT_EQ(refusal({tensor("bert/embeddings/s0/word_embeddings", {2, 2}),
                     tensor("bert/embeddings/s2/word_embeddings", {2, 2})}),
            "bert/embeddings/s1/word_embeddings is missing: there are 2 parts, the last is 2");
  const std::string twice = "is stored in two forms; remove one";
  EXPECT_NE(refusal({tensor("bert/embeddings/s0/word_embeddings", {2, 2}),
                     tensor("bert/embeddings/word_embeddings", {2, 2})})
                .find(twice),
            std::string::npos);
  EXPECT_NE(refusal({tensor("bert/encoder/layer_0/attention/self/qkv_bias", {3}),
                     tensor("bert/encoder/layer_0/attention/self/key/bias", {1})})
                .find(twice),
            std::string::npos);
}

}  // namespace
}  // namespace cloze::checkpoints
