#include "train/saving/model_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "checkpoints/hugging_face_config.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/sentence_files.h"

namespace cloze::train {
namespace {

bool makes_vectors(const ModelDescription& model) {
  return model.head.kind == models::HeadKind::kEmbedding;
}

std::string model_card(const ModelDescription& model, const TrainingState& state) {
  const models::BertConfig& c = model.config;
  const models::HeadTraits& head = model.head.traits();
  return fmt::format(
      "---\n"
      "library_name: {}\n"
      "pipeline_tag: {}\n"
      "tags:\n- bert\n- cloze\n"
      "---\n\n"
      "# {} {} with cloze\n\n"
      "{} layers, hidden size {}, {} heads, vocabulary {} ({}), up to {} positions.\n\n"
      "## Training\n\n"
      "{}, {} of {} steps, {} sequences, {} tokens,\n"
      "seed {}. `training_config.json` holds every option, `training_config_origins.json` where\n"
      "it was set, `trainer_state.json` the curve.\n\n"
      "## To be filled in\n\n"
      "Language, licence, training data, intended use and limits.\n",
      makes_vectors(model) ? "sentence-transformers" : "transformers", head.pipeline,
      c.groupbert ? "GroupBERT" : "BERT", head.predicts_words() ? "pre-trained" : "fine-tuned",
      c.num_hidden_layers, c.hidden_size, c.num_attention_heads, c.vocab_size,
      model.tokenizer.lower_case ? "uncased" : "cased", c.max_position_embeddings, head.objective,
      state.step, state.total_steps, state.samples, state.tokens, state.seed);
}

}  // namespace

std::vector<TextFile> model_folder_files(const ModelDescription& model,
                                         const TrainingState& state) {
  std::optional<text::Vocabulary> vocabulary;
  if (!model.tokens.empty()) {
    vocabulary = text::Vocabulary::from_tokens({model.tokens.begin(), model.tokens.end()});
  }
  const int32_t pad_id = vocabulary ? vocabulary->pad_id() : 0;
  std::vector<TextFile> files = {{"config.json", checkpoints::hugging_face_config_text(
                                                     model.config, model.head, "float32", pad_id)},
                                 {"README.md", model_card(model, state)}};
  if (makes_vectors(model)) {
    std::ranges::move(
        checkpoints::sentence_files(model.head.embedding, model.sentences, model.config),
        std::back_inserter(files));
  }
  if (!vocabulary) return files;
  std::ranges::move(
      checkpoints::tokenizer_files({.vocabulary = *vocabulary,
                                    .options = model.tokenizer,
                                    .max_length = model.config.max_position_embeddings}),
      std::back_inserter(files));
  return files;
}

}  // namespace cloze::train
