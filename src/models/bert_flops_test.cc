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

}  // namespace
}  // namespace cloze::models
