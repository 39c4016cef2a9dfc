#include "models/bert_flops.h"

#include <gtest/gtest.h>

namespace cloze::models {
namespace {

// One sequence of 128 tokens with 20 predictions: 69.9 GFLOP for base, 240.6 for large, V = 30528.
TEST(BertFlops, EqualsThePublishedFigures) {
  const BatchWork work{.tokens = 128, .squared_lengths = 128.0 * 128.0, .predictions = 20};
  const BertConfig base{.vocab_size = 30528};
  EXPECT_NEAR(training_flops(base, work) / 1e9, 69.9, 0.05);
  const BertConfig large{.vocab_size = 30528,
                         .hidden_size = 1024,
                         .num_hidden_layers = 24,
                         .num_attention_heads = 16,
                         .intermediate_size = 4096};
  EXPECT_NEAR(training_flops(large, work) / 1e9, 240.6, 0.05);
}

TEST(BertFlops, OfAFrozenLayerAreThoseOfTheForwardPass) {
  const BatchWork work{.tokens = 128, .squared_lengths = 128.0 * 128.0, .predictions = 20};
  const BertConfig config;
  const double layer = (training_flops(config, work, 3) - training_flops(config, work, 4)) / 2.0;
  EXPECT_NEAR(training_flops(config, work) - 12 * 3 * layer, 3.0 * 20 * 2.0 * 768 * (30522 + 768),
              1e3);
}

// Multiply-adds of a token in the weights of a layer: 7.08 million in BERT-base, 11.29 million in
// GroupBERT-base.
TEST(BertFlops, OfAGroupBertLayerAreCountedByItsProducts) {
  BertConfig config;
  const BatchWork token{.tokens = 1.0};
  const auto layer = [&] { return forward_flops(config, token) / 2.0 / 12.0; };
  EXPECT_NEAR(layer() / 1e6, 7.08, 0.01);
  config.groupbert = true;
  EXPECT_NEAR(layer() / 1e6, 11.29, 0.01);
  config.groupbert_ffn_output_groups = 1;
  EXPECT_EQ(layer(), 768.0 * (4 * 768 + 4 * 3072 + 3 * 768 + 7 * 16));
}

}  // namespace
}  // namespace cloze::models
