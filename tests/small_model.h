// A model that trains in milliseconds, for tests that compare two ways to the same weights.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "models/bert_config.h"

namespace cloze::tests {

// Whether the environment asks for a GroupBERT: CLOZE_TEST_MODEL=groupbert. "bert" without it.
inline bool is_groupbert() {
  const char* model = std::getenv("CLOZE_TEST_MODEL");
  return model != nullptr && std::string_view(model) == "groupbert";
}

// The device of the tests: CLOZE_TEST_DEVICE, "cpu" without it.
inline std::string tested_device() {
  const char* device = std::getenv("CLOZE_TEST_DEVICE");
  return device != nullptr ? device : "cpu";
}

inline models::BertConfig as_groupbert(models::BertConfig model) {
  model.groupbert = true;
  model.groupbert_conv_group_size = 8;
  return model;
}

// The model, as a GroupBERT where the environment asks for that.
inline models::BertConfig as_tested(const models::BertConfig& model) {
  return is_groupbert() ? as_groupbert(model) : model;
}

// Operators in a row in a layer that have a sum.
inline int64_t sums_of_layer() { return is_groupbert() ? 16 : 8; }

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
