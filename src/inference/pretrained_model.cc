#include "inference/pretrained_model.h"

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_model.h"
#include "text/vocabulary.h"

namespace cloze::inference {
const models::BertHead& PretrainedModel::require_head(models::HeadKind kind) const {
  if (head.kind != kind) {
    throw_user_error("{} is a {}, where a {} is needed; give a model of that kind", path.string(),
                     models::architecture_of(head.kind), models::architecture_of(kind));
  }
  return head;
}

PretrainedModel assembled(ModelParts parts) {
  const int64_t rows = parts.config.vocab_size;
  std::vector<std::string> notes = std::move(parts.tokenizer.notes);
  const auto missing = text::missing_rows(parts.tokenizer.vocabulary, rows,
                                          parts.tokenizer.vocabulary_file.string());
  if (missing) notes.push_back(*missing);
  return {.path = std::move(parts.path),
          .config = parts.config,
          .head = std::move(parts.head),
          .tokenizer = {std::move(parts.tokenizer.vocabulary), parts.tokenizer.options, rows},
          .notes = std::move(notes)};
}

PretrainedModel open_pretrained_model(const std::filesystem::path& path) {
  const std::filesystem::path configuration = checkpoints::configuration_of(path);
  return assembled({.path = path,
                    .config = checkpoints::read_hugging_face_config(configuration),
                    .head = checkpoints::read_hugging_face_head(configuration),
                    .tokenizer = checkpoints::read_tokenizer(checkpoints::folder_of(path))});
}

}  // namespace cloze::inference
