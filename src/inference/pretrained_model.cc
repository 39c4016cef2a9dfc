#include "inference/pretrained_model.h"

#include "base/error.h"
#include "models/hugging_face_config.h"
#include "models/hugging_face_tokenizer.h"
#include "models/stored_model.h"

namespace cloze::inference {
namespace {

text::Tokenizer tokenizer_of(const std::filesystem::path& folder) {
  models::require_bert_tokenizer(folder);
  auto vocabulary = text::Vocabulary::load(folder / "vocab.txt");
  const text::TokenizerOptions options = models::read_tokenizer_options(folder, vocabulary);
  return text::Tokenizer(std::move(vocabulary), options);
}

}  // namespace

const models::BertHead& PretrainedModel::require_head(models::HeadKind kind) const {
  if (head.kind != kind) {
    throw_user_error("{} is a {}, where a {} is needed; give a model of that kind", path.string(),
                     models::architecture_of(head.kind), models::architecture_of(kind));
  }
  return head;
}

PretrainedModel open_pretrained_model(const std::filesystem::path& path) {
  const std::filesystem::path configuration = models::configuration_of(path);
  const std::filesystem::path folder = models::folder_of(path);
  PretrainedModel model{.path = path,
                        .config = models::read_hugging_face_config(configuration),
                        .head = models::read_hugging_face_head(configuration),
                        .tokenizer = tokenizer_of(folder)};
  const auto tokens = static_cast<int64_t>(model.tokenizer.vocabulary().size());
  if (tokens > model.config.vocab_size) {
    throw_user_error("{} has {} tokens, the model's vocab_size is {}; they do not belong together",
                     (folder / "vocab.txt").string(), tokens, model.config.vocab_size);
  }
  return model;
}

}  // namespace cloze::inference
