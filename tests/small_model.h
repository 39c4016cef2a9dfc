// A model that trains in milliseconds, for tests that compare two ways to the same weights.
#pragma once

#include "models/bert_config.h"

namespace cloze::tests {

#ifdef CLOZE_TEST_GROUPBERT
inline constexpr bool kIsGroupBert = true;
#else
inline constexpr bool kIsGroupBert = false;
#endif

// The model, as a GroupBERT where the test is compiled for that.
inline models::BertConfig as_tested(models::BertConfig model) {
  if (kIsGroupBert) {
    model.groupbert = true;
    model.groupbert_conv_group_size = 8;
  }
  return model;
}

// Operators in a row in a layer that have a sum.
inline constexpr int64_t kSumsOfLayer = kIsGroupBert ? 16 : 8;

inline models::BertConfig small_model() {
  return as_tested({.vocab_size = 97,
                    .hidden_size = 24,
                    .num_hidden_layers = 2,
                    .num_attention_heads = 3,
                    .intermediate_size = 40,
                    .max_position_embeddings = 32,
                    .hidden_dropout_prob = 0.1,
                    .attention_probs_dropout_prob = 0.2});
}

}  // namespace cloze::tests
