// A model folder as it lies on disk, before anything is computed with it: config.json, the
// tokenizer, and what the head's classes are called. Every checkpoint of ours is such a folder.
// Errors: UserError and DataError that name the file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "checkpoints/stored_tokenizer.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"
#include "text/tokenizer.h"

namespace cloze::inference {

struct PretrainedModel {
  std::filesystem::path path;
  models::BertConfig config;
  models::BertHead head;
  text::Tokenizer tokenizer;
  std::vector<std::string> notes;  // sentences for the user on what does not fit quite

  // Its head. UserError when it is of another kind.
  const models::BertHead& require_head(models::HeadKind kind) const;
};

// A Hugging Face folder, or the prefix of a TensorFlow checkpoint with bert_config.json and
// vocab.txt beside it.
PretrainedModel open_pretrained_model(const std::filesystem::path& path);

// The parts of one, with their notes. `path` also names it in messages.
struct ModelParts {
  std::filesystem::path path;
  models::BertConfig config;
  models::BertHead head;
  checkpoints::StoredTokenizer tokenizer;
};
PretrainedModel assembled(ModelParts parts);

}  // namespace cloze::inference
