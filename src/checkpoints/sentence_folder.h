// A model folder as sentence-transformers keeps it: what makes one vector of a text, and how texts
// are given to the model. Beside what every folder holds:
//
//   modules.json                         [{"idx", "name", "path", "type"}]: Transformer, Pooling,
//                                        any number of Dense, Normalize, in this order
//   1_Pooling/config.json                older: a boolean pooling_mode_*_token(s) for each mode;
//                                        newer: "pooling_mode", a name or a list of them
//   2_Dense/config.json, weights         in_features, out_features, bias, activation_function
//   sentence_bert_config.json            max_seq_length, do_lower_case; newer: neither
//   config_sentence_transformers.json    prompts, default_prompt_name, similarity_fn_name
//
// Both forms are read, the newer of which 5.7 and 6 write; sentence_files.h writes the older. A
// module is known by the last part of its type.
//
// Errors: UserError that names file, key and value for a module, a mode, an order or an activation
// that is not here; DataError for files that are not JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "models/bert_config.h"
#include "models/embedding_layers.h"
#include "text/tokenizer_options.h"

namespace cloze::checkpoints {

// States how texts are given to a model that makes vectors of them, and how the vectors are compared.
struct SentenceSettings {
  std::optional<int64_t> max_length;  // tokens of a sequence with the special ones; else positions
  bool lower_case = false;            // of texts; whoever opens the model has its tokenizer do it
  std::vector<std::pair<std::string, std::string>> prompts = {};  // name, text put before a text
  std::string default_prompt = {};                                // a name; "": none
  std::string similarity = "cosine";                              // or dot, euclidean, manhattan

  // The prompt of this name. UserError that lists the names there are.
  const std::string& prompt_named(std::string_view name) const;
  // The default prompt's text; "" when there is none.
  const std::string& default_text() const;
  bool operator==(const SentenceSettings&) const = default;
};

// Says whether a folder has modules.json.
bool has_modules(const std::filesystem::path& folder);

// The folders of its dense layers, "2_Dense", whatever else it lists.
std::vector<std::string> dense_folders(const std::filesystem::path& folder);

// The layers that modules.json lists after the encoder, for a model of this hidden size.
models::EmbeddingLayers read_embedding_layers(const std::filesystem::path& folder,
                                              const models::BertConfig& config);
// Reads what the folder states of texts; the rest is as in SentenceSettings.
SentenceSettings read_sentence_settings(const std::filesystem::path& folder,
                                        const models::BertConfig& config);

// Lower-cases texts where these settings say so; accents stay or go as they did.
void take_sentence_rules(const SentenceSettings& settings, text::TokenizerOptions& rules);

// An object with both, for packed models.
formats::Json sentence_json(const models::EmbeddingLayers& layers,
                            const SentenceSettings& settings);
std::pair<models::EmbeddingLayers, SentenceSettings> sentence_from_json(const formats::Json& json);

// A mode's key in the older form, "pooling_mode_cls_token".
struct PoolingKey {
  ops::PoolingMode mode;
  const char* key;
  const char* name;  // in the newer form and in options
};
// All modes, in the order in which the older form puts their vectors side by side.
std::span<const PoolingKey> pooling_keys();
// The name of a mode: "cls", "mean", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken".
std::string_view pooling_name(ops::PoolingMode mode);
std::vector<std::string> pooling_names();
// UserError that lists the names.
ops::PoolingMode pooling_named(std::string_view name);
// Puts a mode in the place of those that a model states. UserError where its dense layers expect
// several modes.
void replace_pooling(models::EmbeddingLayers& layers, ops::PoolingMode mode,
                     const std::filesystem::path& model);

}  // namespace cloze::checkpoints
