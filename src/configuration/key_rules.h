// Builds the rows of a system's table, a line for keys of the same fate and reason.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "configuration/foreign_system.h"

namespace cloze::configuration {

inline constexpr const char* kBuckets = "gradients are summed in pieces of 4 MiB";
inline constexpr const char* kMpirunSays = "mpirun says which process this is, and of how many";
inline constexpr const char* kNoHost = "no host keeps replicas in step";
inline constexpr const char* kStages =
    "one process holds the whole model; pipeline_stages divides it over several";
inline constexpr const char* kPopartAdapts =
    "PopART's LAMB has a trust ratio for every tensor, biases and LayerNorm included";
inline constexpr const char* kScaleDecays =
    "LAMB there leaves biases and LayerNorm's shift out of decay, and not its scale";
inline constexpr const char* kLambAloneJoins =
    "no effect: LAMB alone sees query, key and value as one tensor or as three";
inline constexpr const char* kRoundsWeights =
    "bf16_weights rounds weights this way; without it they keep an f32 master, which needs no "
    "rounding";

class KeyRules {
 public:
  using Keys = std::initializer_list<const char*>;

  // The same name and meaning here.
  KeyRules& supported(Keys keys) {
    for (const char* key : keys) rules_.push_back({key, Fate::kSupported, key, ""});
    return *this;
  }
  // The value of another option here.
  KeyRules& mapped(const std::string& key, const char* option, const char* note = "") {
    rules_.push_back({key, Fate::kMapped, option, note});
    return *this;
  }
  // The system's convert() takes them, or the meaning lies elsewhere: the note says where.
  KeyRules& elsewhere(Keys keys, const char* note, formats::Json agreeing = nullptr) {
    return add(keys, Fate::kMapped, note, std::move(agreeing), false);
  }
  // Does what elsewhere() does, but setting one is an error (KeyRule::is_missing).
  KeyRules& missing(Keys keys, const char* note) {
    return add(keys, Fate::kMapped, note, nullptr, true);
  }
  KeyRules& no_effect(Keys keys, const char* reason, formats::Json agreeing = nullptr) {
    return add(keys, Fate::kNoEffect, reason, std::move(agreeing), false);
  }
  KeyRules& planned(Keys keys, const char* reason) {
    return add(keys, Fate::kPlanned, reason, nullptr, true);
  }

  // The model's numbers in the configuration of a BERT, whose keys have `prefix` before them.
  KeyRules& mapped_model(const std::string& prefix) {
    for (const char* name :
         {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
          "intermediate_size", "max_position_embeddings", "type_vocab_size", "hidden_act",
          "hidden_dropout_prob", "attention_probs_dropout_prob", "initializer_range",
          "layer_norm_eps"}) {
      mapped(prefix + name, name);
    }
    return *this;
  }

  KeyRules& with(const KeyRules& others) {
    rules_.insert(rules_.end(), others.rules_.begin(), others.rules_.end());
    return *this;
  }

  operator std::vector<KeyRule>() const { return rules_; }  // NOLINT: implicit by design

 private:
  KeyRules& add(Keys keys, Fate fate, const char* note, formats::Json agreeing, bool is_missing) {
    for (const char* key : keys) rules_.push_back({key, fate, "", note, agreeing, is_missing});
    return *this;
  }

  std::vector<KeyRule> rules_;
};

}  // namespace cloze::configuration
