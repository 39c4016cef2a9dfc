#include "models/bert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "base/error.h"
#include "models/bert_heads.h"
#include "ops/attention.h"

namespace cloze::models {
namespace {

int64_t parameters_of(const BertConfig& config) {
  graph::Graph graph;
  bert_for_training(graph, config, {}, {.tokens = 8, .sequences = 1, .predictions = 1});
  int64_t count = 0;
  for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
    count += graph.type(value).shape.elements();
  }
  return count;
}

BertConfig sized(int64_t vocabulary, int64_t hidden, int64_t layers, int64_t heads) {
  return {.vocab_size = vocabulary,
          .hidden_size = hidden,
          .num_hidden_layers = layers,
          .num_attention_heads = heads,
          .intermediate_size = 4 * hidden};
}

// The numbers that the published configurations give; the last is that of the published weights.
TEST(Bert, HasAsManyParametersAsPublished) {
  EXPECT_EQ(parameters_of(sized(30522, 768, 12, 12)), 110'106'428);
  EXPECT_EQ(parameters_of(sized(30522, 1024, 24, 16)), 336'226'108);
  struct Row {
    BertConfig config;
    int64_t parameters;
  };
  for (Row& row : std::vector<Row>{{sized(30400, 128, 2, 2), 4'680'130},
                                   {sized(30400, 256, 4, 4), 13'203'138},
                                   {sized(30528, 512, 8, 8), 56'876'866},
                                   {sized(30400, 768, 12, 12), 160'739'010},
                                   {sized(30528, 1024, 24, 16), 515'540'802}}) {
    row.config.groupbert = true;
    EXPECT_EQ(parameters_of(row.config), row.parameters) << row.config.hidden_size;
  }
  BertConfig published = sized(30522, 768, 12, 12);
  published.groupbert = published.groupbert_conv_bias = true;
  EXPECT_EQ(parameters_of(published), 160'842'044);
}

// Biases and norms neither decay nor have a trust ratio; every matrix has both.
TEST(Bert, VectorsAloneAreLeftOutOfDecay) {
  for (const bool is_groupbert : {false, true}) {
    for (const bool conv_bias : {false, true}) {
      BertConfig config = sized(100, 32, 2, 2);
      config.groupbert = is_groupbert;
      config.groupbert_conv_bias = conv_bias;
      for (const HeadTraits& row : all_heads()) {
        const BertHead head{.kind = row.kind, .labels = {"no", "yes"}};
        graph::Graph graph;
        bert_for_inference(graph, config, head, {.tokens = 8, .sequences = 1, .predictions = 1});
        for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
          const graph::ValueInfo& info = std::as_const(graph).info(value);
          EXPECT_EQ(info.traits,
                    info.type.shape.rank() == 1 ? graph::kVectorTraits : graph::ParameterTraits{})
              << info.name;
        }
      }
    }
  }
}

// However many slots there are: work buffers of attention have this length.
TEST(Bert, BoundsItsSequencesByTheirPositions) {
  BertConfig config = sized(100, 16, 3, 2);
  config.max_position_embeddings = 48;
  for (const bool is_groupbert : {false, true}) {
    config.groupbert = is_groupbert;
    graph::Graph graph;
    bert_for_training(graph, config, {}, {.tokens = 512, .sequences = 16, .predictions = 20});
    int64_t layers = 0;
    for (const graph::Node& node : graph.nodes()) {
      if (node.op != &ops::kAttention) continue;
      ++layers;
      EXPECT_EQ(std::any_cast<const ops::AttentionAttributes&>(node.attributes).max_length, 48);
    }
    EXPECT_EQ(layers, config.num_hidden_layers);
  }
}

std::string refusal(const BertConfig& config) {
  try {
    config.validate();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Bert, RefusesWhatDoesNotFit) {
  BertConfig config = sized(30522, 768, 12, 12);
  EXPECT_EQ(refusal(config), "");
  for (const double small : {0.0, 1e-50, 1e-40}) {
    config.layer_norm_eps = small;
    EXPECT_NE(refusal(config).find("; it must be at least 1.2e-38"), std::string::npos) << small;
  }
  config.layer_norm_eps = 1e-12;
  config.groupbert_conv_bias = true;
  EXPECT_EQ(refusal(config),
            "groupbert_conv_bias is true, but `groupbert` is false; set `groupbert` true or leave "
            "it out");
  config.groupbert = true;
  EXPECT_EQ(refusal(config), "");
  config.groupbert_conv_kernel_size = 6;
  EXPECT_EQ(refusal(config), "groupbert_conv_kernel_size is 6; it must be odd");
  config.groupbert_conv_kernel_size = 7;
  config.groupbert_conv_group_size = 7;
  EXPECT_EQ(
      refusal(config),
      "hidden_size 768 is not divisible by groupbert_conv_group_size 7; choose a multiple of it");
  config.groupbert_conv_group_size = 16;
  config.intermediate_size = 770;
  EXPECT_EQ(refusal(config),
            "intermediate_size 770 is not divisible by groupbert_ffn_output_groups 4; choose a "
            "multiple of it");
  config.groupbert_ffn_output_groups = 0;
  EXPECT_EQ(refusal(config), "groupbert_ffn_output_groups is 0; it must be at least 1");
}

// The mean of log sum exp over drawn logits of the largest variance, minus that of the label's.
double drawn_softmax_loss(int64_t classes, double deviation) {
  constexpr int kDraws = 400;
  std::mt19937 engine(7);
  std::normal_distribution<double> logit(0.0, deviation);
  double sum = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double label = logit(engine);
    double exponentials = std::exp(label);
    for (int64_t j = 1; j < classes; ++j) exponentials += std::exp(logit(engine));
    sum += std::log(exponentials) - label;
  }
  return sum / kDraws;
}

TEST(Bert, AnUntrainedModelLosesNoMoreThanItsBound) {
  for (const double range : {0.0, 0.02, 0.05, 0.3, 2.0}) {
    BertConfig config = sized(2000, 256, 2, 2);
    config.initializer_range = range;
    const double deviation = range * 16.0;  // the square root of hidden_size
    const double noise = 4.0 * deviation / 20.0;
    const double mlm = drawn_softmax_loss(2000, deviation);
    const double nsp = drawn_softmax_loss(2, deviation);
    const double bound = *untrained_loss(config, {});
    EXPECT_GE(bound, mlm + nsp - 2.0 * noise) << range;
    EXPECT_GE(bound, std::log(2000.0) + std::log(2.0));
    // Of use at the range that all published models have.
    EXPECT_TRUE(range > 0.02 || bound <= 1.02 * (std::log(2000.0) + std::log(2.0))) << range;
  }
}

TEST(Bert, AnUntrainedModelHasALossForEachHead) {
  BertConfig config = sized(2000, 256, 2, 2);
  config.initializer_range = 0.0;
  const auto of = [&](const BertHead& head) { return untrained_loss(config, head); };
  EXPECT_DOUBLE_EQ(*of({}), std::log(4000.0));
  EXPECT_DOUBLE_EQ(*of({.kind = HeadKind::kQuestionAnswering}), std::log(512.0));
  EXPECT_DOUBLE_EQ(
      *of({.kind = HeadKind::kSequenceClassification, .labels = {"no", "yes", "perhaps"}}),
      std::log(3.0));
  EXPECT_FALSE(of({.kind = HeadKind::kSequenceClassification, .labels = {"score"}}));
}

}  // namespace
}  // namespace cloze::models
