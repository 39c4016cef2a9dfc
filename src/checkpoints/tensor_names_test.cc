#include "checkpoints/tensor_names.h"

#include <gtest/gtest.h>

#include "formats/safetensors.h"

namespace cloze::checkpoints {
namespace {

void expect_pair(const char* ours, TensorflowNames names, const char* theirs, bool is_transposed) {
  const StoredLayout layout = is_transposed ? StoredLayout::kTransposed : StoredLayout::kSame;
  const auto there = tensorflow_name(ours, names);
  ASSERT_TRUE(there) << ours;
  EXPECT_EQ(there->name, theirs);
  EXPECT_EQ(there->layout, layout) << ours;
  const auto here = hugging_face_name(theirs);
  ASSERT_TRUE(here) << theirs;
  EXPECT_EQ(here->name, ours);
  EXPECT_EQ(here->layout, layout) << theirs;
}

TEST(CheckpointNames, GoogleAndGraphcoreNameThingsDifferently) {
  using enum TensorflowNames;
  for (const TensorflowNames names : {kGoogle, kGraphcore}) {
    expect_pair("bert.embeddings.word_embeddings.weight", names, "bert/embeddings/word_embeddings",
                false);
    expect_pair("bert.encoder.layer.11.attention.self.key.weight", names,
                "bert/encoder/layer_11/attention/self/key/kernel", true);
    expect_pair("bert.encoder.layer.2.output.LayerNorm.weight", names,
                "bert/encoder/layer_2/output/LayerNorm/gamma", false);
    expect_pair("cls.predictions.bias", names, "cls/predictions/output_bias", false);
    expect_pair("qa_outputs.weight", names, "cls/squad/output_weights", false);
  }
  expect_pair("bert.encoder.layer.0.attention.output.dense.weight", kGoogle,
              "bert/encoder/layer_0/attention/output/dense/kernel", true);
  expect_pair("bert.encoder.layer.0.attention.output.dense.weight", kGraphcore,
              "bert/encoder/layer_0/attention/projection/dense/kernel", true);
  expect_pair("classifier.bias", kGoogle, "output_bias", false);
  expect_pair("classifier.bias", kGraphcore, "glue_loss/output_bias", false);
}

// Every tensor of a model that transformers made.
TEST(CheckpointNames, EveryTensorHasOneNameEach) {
  const formats::SafetensorsFile model(std::string(CLOZE_SOURCE_DIR) +
                                       "/tests/fixtures/tf_checkpoint/model.safetensors");
  for (const formats::TensorView& tensor : model.tensors()) {
    for (const auto names : {TensorflowNames::kGoogle, TensorflowNames::kGraphcore}) {
      const auto there = tensorflow_name(tensor.name, names);
      ASSERT_TRUE(there) << tensor.name;
      EXPECT_EQ(hugging_face_name(there->name)->name, tensor.name);
    }
  }
}

// The names of convert_ckpt.py's research2apps and apps2research.
TEST(CheckpointNames, ResearchCheckpointsOfGroupBertHaveTheirOwn) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"all/bert/embeddings/word_embeddings", "bert/embeddings/word_embeddings"},
      {"all/bert/embeddings/LayerNorm/gamma", "bert/embeddings/LayerNorm/gamma"},
      {"all/bert/encoder/layer_3/boom1/prenorm/GroupNorm/beta",
       "bert/encoder/layer_3/feed_forward_1/prenorm/LayerNorm/beta"},
      {"all/bert/encoder/layer_3/boom2/up/weight",
       "bert/encoder/layer_3/feed_forward_2/intermediate/dense/kernel"},
      {"all/bert/encoder/layer_3/boom2/down/bias",
       "bert/encoder/layer_3/feed_forward_2/output/dense/bias"},
      {"all/bert/encoder/layer_3/boom2/mixer/weight",
       "bert/encoder/layer_3/feed_forward_2/output/mixer/dense/kernel"},
      {"all/bert/encoder/layer_3/attention/qkv/weight",
       "bert/encoder/layer_3/attention/self/kernel/qkv_weight"},
      {"all/bert/encoder/layer_3/attention/qkv/query/bias",
       "bert/encoder/layer_3/attention/self/query/bias"},
      {"all/bert/encoder/layer_3/attention/output/weight",
       "bert/encoder/layer_3/attention/projection/dense/kernel"},
      {"all/bert/encoder/layer_3/conv/pre/weight",
       "bert/encoder/layer_3/convolution/pre/dense/kernel"},
      {"all/bert/encoder/layer_3/conv/dwconv/weight",
       "bert/encoder/layer_3/convolution/dwconv/weight"},
      {"all/bert/encoder/layer_3/conv/post/bias",
       "bert/encoder/layer_3/convolution/post/dense/bias"},
      {"all/bert/encoder/post_layers/GroupNorm/gamma", "LayerNorm/gamma"},
      {"all/bert/pooler/dense/kernel", "bert/pooler/dense/kernel"},
      {"all/cls/predictions/output_bias", "cls/predictions/output_bias"}};
  for (const auto& [research, graphcore] : kNames) {
    EXPECT_EQ(current_tensorflow_name(research), graphcore);
    EXPECT_EQ(research_name(graphcore), research);
  }
  EXPECT_EQ(current_tensorflow_name("bert/pooler/dense/kernel"), "bert/pooler/dense/kernel");
}

TEST(CheckpointNames, SomeTellWhoseTheyAre) {
  using enum TensorflowNames;
  EXPECT_EQ(kind_of_name("bert/encoder/layer_3/attention/output/dense/kernel"), kGoogle);
  EXPECT_EQ(kind_of_name("bert/encoder/layer_3/attention/output/LayerNorm/beta"), kGoogle);
  EXPECT_EQ(kind_of_name("bert/encoder/layer_3/attention/projection/dense/kernel"), kGraphcore);
  EXPECT_EQ(kind_of_name("bert/encoder/layer_3/attention/projection/LayerNorm/gamma"), kGraphcore);
  EXPECT_EQ(kind_of_name("all/bert/encoder/layer_3/attention/output/weight"), kResearch);
  EXPECT_EQ(kind_of_name("all/bert/embeddings/word_embeddings"), kResearch);
  for (const char* name : {"bert/embeddings/word_embeddings", "output_weights", "global_step",
                           "bert/encoder/layer_3/output/dense/kernel", "alles", ""}) {
    EXPECT_EQ(kind_of_name(name), std::nullopt) << name;
  }
}

TEST(CheckpointNames, OthersAreNotGuessedAt) {
  for (const char* name :
       {"", "bert", "bert/encoder/layer_/output/dense/bias", "bert/encoder/layer_1",
        "bert/encoder/layer_1x/output/dense/bias", "bert/encoder/layer_1/output/dense/bias/adam_m",
        "bert/encoder/layer_1/bert/pooler/dense/bias", "bert/encoder/layer_1/output_bias",
        "bert/embeddings/s0/word_embeddings"}) {
    EXPECT_FALSE(hugging_face_name(name)) << name;
  }
  EXPECT_FALSE(tensorflow_name("lm_head.weight", TensorflowNames::kGoogle));
  EXPECT_FALSE(tensorflow_name("bert.encoder.layer.1.crossattention.self.query.bias",
                               TensorflowNames::kGoogle));
}

TEST(CheckpointNames, KnowsTrainingState) {
  for (const char* name : {"global_step", "bert/pooler/dense/bias/adam_m", "w/adam_v", "w/LAMB",
                           "w/LAMB_1", "w/Momentum", "w/Adam_1", "beta1_power"}) {
    EXPECT_TRUE(is_training_state(name)) << name;
  }
  EXPECT_FALSE(is_training_state("bert/pooler/dense/bias"));
}

TEST(CheckpointNames, KnowsMoments) {
  for (const char* slot :
       {"adam_m", "lamb_m", "LAMB", "Adam", "adam_v", "lamb_v", "LAMB_1", "Adam_1"}) {
    const auto found = moment_slot(std::string("bert/pooler/dense/kernel/") + slot);
    ASSERT_TRUE(found) << slot;
    EXPECT_EQ(found->tensor, "bert/pooler/dense/kernel");
    EXPECT_EQ(found->moment,
              std::string(slot).find_first_of("v1") == std::string::npos ? 'm' : 'v');
  }
  for (const char* name :
       {"adam_m", "w/Momentum", "beta1_power", "global_step", "w/adam_mv", "w"}) {
    EXPECT_FALSE(moment_slot(name)) << name;
  }
}

TEST(CheckpointNames, EarlyNamesOfHuggingFace) {
  EXPECT_EQ(current_name("embeddings.LayerNorm.gamma"), "embeddings.LayerNorm.weight");
  EXPECT_EQ(full_name("embeddings.LayerNorm.beta"), "bert.embeddings.LayerNorm.bias");
  EXPECT_EQ(full_name("cls.predictions.bias"), "cls.predictions.bias");
  EXPECT_TRUE(is_redundant(full_name("embeddings.position_ids")));
}

TEST(CheckpointNames, NvidiasFusedActivationsAreDenseLayers) {
  EXPECT_EQ(full_name("encoder.layer.0.intermediate.dense_act.weight"),
            "bert.encoder.layer.0.intermediate.dense.weight");
  EXPECT_EQ(full_name("bert.pooler.dense_act.bias"), "bert.pooler.dense.bias");
}

TEST(ListNames, StopsAtTheLimit) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  EXPECT_EQ(list_names(names), "a, b, c and 2 more");
  EXPECT_EQ(list_names(names, 5), "a, b, c, d, e");
  EXPECT_EQ(list_names({}), "");
}

}  // namespace
}  // namespace cloze::checkpoints
