// The files that make a folder of weights a Hugging Face model: config.json, the tokenizer's files
// and a model card; of a model that makes vectors of texts also what makes it one of
// sentence-transformers (checkpoints/sentence_files.h). The weights themselves, model.safetensors, are
// written beside them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "checkpoints/sentence_folder.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"
#include "text/tokenizer_options.h"
#include "train/saving/checkpoint.h"

namespace cloze::train {

struct ModelDescription {
  models::BertConfig config;
  models::BertHead head = {};
  std::span<const std::string> tokens;  // the vocabulary; empty: no tokenizer files
  text::TokenizerOptions tokenizer = {};
  checkpoints::SentenceSettings sentences = {};  // of a head that makes vectors
};

// UserError when the tokens are not a vocabulary (text/vocabulary.h).
std::vector<TextFile> model_folder_files(const ModelDescription& model, const TrainingState& state);

}  // namespace cloze::train
