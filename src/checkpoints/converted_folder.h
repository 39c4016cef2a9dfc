// The files beside the weights of a converted model (conversion.h).
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/sentence_conversion.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "models/bert_config.h"

namespace cloze::checkpoints {

// A converted model: its origin, and what is known of it.
struct ConvertedModel {
  models::BertConfig config;
  formats::Json source_config;            // config.json of a Hugging Face folder; null otherwise
  std::filesystem::path source_folder;    // of a Hugging Face folder; empty otherwise
  std::string source_name;                // for the model card
  std::filesystem::path vocabulary_file;  // may be empty
  std::optional<SentenceModel> sentences = {};  // of a model that makes vectors of texts
  // describe_tensors() says it of the weights.
  std::string architecture;  // "BertForPreTraining"
  std::string dtype;         // "float32"
  int64_t num_labels = 0;    // of a classifier; 0: there is none
};

// Fills in what the tensors, under Hugging Face's names, tell about the model. Its configuration is
// known, and there is at least one tensor.
void describe_tensors(std::span<const formats::TensorView> tensors, ConvertedModel& model);

// config.json, README.md, the tokenizer's files, and those of sentence_files.h. Files of a Hugging
// Face folder are copied unchanged where they fit; a vocabulary with more tokens than rows is cut,
// and `notes` says so.
std::vector<TextFile> hugging_face_files(const ConvertedModel& model,
                                         std::vector<std::string>& notes);

// bert_config.json and vocab.txt. For Graphcore's programs the configuration has their switches.
std::vector<TextFile> tensorflow_files(const ConvertedModel& model, bool for_graphcore,
                                       bool use_qkv_split, std::vector<std::string>& notes);

}  // namespace cloze::checkpoints
