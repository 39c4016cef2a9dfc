// The options of the commands that compare or store vectors of texts.
#pragma once

#include <optional>
#include <string>

#include "cli/inference/inference_options.h"
#include "cli/options/option_table.h"
#include "formats/json.h"
#include "ops/pooling.h"
#include "tasks/text_embedder.h"

namespace cloze::cli {

struct EncoderOptions {
  ModelOptions model;
  int threads = 0;
  std::string pooling;  // "": as the folder says
  std::string prompt_name;
  std::string prompt;  // "": that of the name, or the model's default
  std::optional<int64_t> dimensions;
  std::optional<bool> normalize;
};

// Adds those of add_model_options, --pooling, --prompt, --prompt-name, --dimensions and --normalize.
void add_encoder_options(OptionTable& table, EncoderOptions& options);

// Opens the model as an encoder, whatever its head. UserError for a packed model with another.
tasks::TextEmbedder open_embedder(const EncoderOptions& options);
tasks::EmbeddingOptions embedding_options(const EncoderOptions& options,
                                          const tasks::TextEmbedder& embedder);
// Lists what decides the vectors, under the options' names, for work that goes on later.
formats::Json embedding_identity(const EncoderOptions& options,
                                 const tasks::TextEmbedder& embedder);

}  // namespace cloze::cli
