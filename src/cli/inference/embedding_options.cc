#include "cli/inference/embedding_options.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "checkpoints/sentence_folder.h"
#include "platform/available_threads.h"

namespace cloze::cli {
namespace {

std::optional<ops::PoolingMode> pooling_of(const EncoderOptions& options) {
  if (options.pooling.empty()) return std::nullopt;
  return checkpoints::pooling_named(options.pooling);
}

}  // namespace

void add_encoder_options(OptionTable& table, EncoderOptions& o) {
  table.add("pooling", &o.pooling,
            "How the vectors of tokens become one, in place of what the folder says: cls, mean, "
            "max, mean_sqrt_len_tokens, weightedmean or lasttoken",
            {.choices = checkpoints::pooling_names()});
  table.add("prompt_name", &o.prompt_name,
            "Name of a prompt of the model, which is put before each text (its default prompt)");
  table.add("prompt", &o.prompt, "Text that is put before each text, in place of the model's",
            {.excludes = {"prompt_name"}});
  table.add("dimensions", &o.dimensions, "Keep so many numbers of each vector, the first (all)",
            {.minimum = 1});
  table.add("normalize", &o.normalize,
            "Give vectors the length 1, once they are cut (as the model's folder says)");
  add_model_options(table, o.model, o.threads);
}

tasks::TextEmbedder open_embedder(const EncoderOptions& options) {
  return {open_encoder(options.model, pooling_of(options), options.threads), options.threads};
}

tasks::EmbeddingOptions embedding_options(const EncoderOptions& options,
                                          const tasks::TextEmbedder& embedder) {
  tasks::EmbeddingOptions chosen{.dimensions = options.dimensions,
                                 .is_normalized = options.normalize};
  if (!options.prompt.empty()) chosen.prompt = options.prompt;
  if (!options.prompt_name.empty()) {
    chosen.prompt = embedder.model().pretrained().sentences.prompt_named(options.prompt_name);
  }
  return chosen;
}

formats::Json embedding_identity(const EncoderOptions& options,
                                 const tasks::TextEmbedder& embedder) {
  const tasks::EmbeddingOptions chosen = embedding_options(options, embedder);
  return {{"--init-checkpoint", options.model.checkpoint.string()},
          {"--device", options.model.compile.device},
          {"--instruction-set", options.model.instruction_set},
          {"--pooling", options.pooling},
          {"--prompt", chosen.prompt.value_or("")},
          {"--dimensions", formats::or_null(chosen.dimensions)},
          {"--normalize", formats::or_null(chosen.is_normalized)}};
}

}  // namespace cloze::cli
