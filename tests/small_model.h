// A model that trains in milliseconds, for tests that compare two ways to the same weights.
#pragma once

#include "models/bert_config.h"

namespace cloze::tests {

inline models::BertConfig small_model() {
  return {.vocab_size = 97,
          .hidden_size = 24,
          .num_hidden_layers = 2,
          .num_attention_heads = 3,
          .intermediate_size = 40,
          .max_position_embeddings = 32,
          .hidden_dropout_prob = 0.1,
          .attention_probs_dropout_prob = 0.2};
}

}  // namespace cloze::tests
