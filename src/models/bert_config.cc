#include "models/bert_config.h"

#include "base/error.h"

namespace cloze::models {
namespace {

// The bounds keep products of sizes in 64 bits, and a made-up file from taking all memory.
constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kMostOfASize = int64_t{1} << 24;

void require_positive(const char* name, int64_t value, int64_t most = kMostOfASize) {
  if (value <= 0) throw_user_error("{} is {}; it must be at least 1", name, value);
  if (value > most) throw_user_error("{} is {}; it must be at most {}", name, value, most);
}

void require_probability(const char* name, double value) {
  if (!(value >= 0.0 && value < 1.0)) {
    throw_user_error("{} is {}; it must be in [0, 1)", name, value);
  }
}

}  // namespace

void BertConfig::validate() const {
  require_positive("vocab_size", vocab_size);
  require_positive("hidden_size", hidden_size);
  require_positive("num_hidden_layers", num_hidden_layers, kMostLayers);
  require_positive("num_attention_heads", num_attention_heads);
  require_positive("intermediate_size", intermediate_size);
  require_positive("max_position_embeddings", max_position_embeddings);
  require_positive("type_vocab_size", type_vocab_size);
  require_probability("hidden_dropout_prob", hidden_dropout_prob);
  require_probability("attention_probs_dropout_prob", attention_probs_dropout_prob);
  if (hidden_size % num_attention_heads != 0) {
    throw_user_error(
        "hidden_size {} is not divisible by num_attention_heads {}; choose a multiple of it",
        hidden_size, num_attention_heads);
  }
  if (!(initializer_range > 0.0)) {
    throw_user_error("initializer_range is {}; it must be above 0", initializer_range);
  }
  if (!(layer_norm_eps > 0.0)) {
    throw_user_error("layer_norm_eps is {}; it must be above 0", layer_norm_eps);
  }
}

}  // namespace cloze::models
