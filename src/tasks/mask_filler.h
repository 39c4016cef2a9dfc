// Filling in blanks: what a pre-trained model expects at each [MASK] of a text.
//
// Reads a Hugging Face folder (config.json, model.safetensors, vocab.txt, tokenizer_config.json),
// as every checkpoint of ours is. Texts are laid end to end in micro-batches like training samples,
// so short texts cost what they weigh. Errors: UserError for a folder that is no such model, a text
// without [MASK] or longer than the model's positions.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sample.h"
#include "engine/session.h"
#include "models/bert_config.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct Candidate {
  int32_t id = 0;
  std::string token;
  double probability = 0.0;
};

struct Blank {
  size_t text = 0;                    // index of the text
  std::vector<Candidate> candidates;  // most probable first
};

struct MaskFillerOptions {
  engine::CompileOptions compile;
  int64_t tokens_per_micro_batch = 1024;
};

class MaskFiller {
 public:
  explicit MaskFiller(const std::filesystem::path& folder, const MaskFillerOptions& options = {});

  // Every [MASK] of every text, in order. A text may have two parts, parted by " [SEP] ".
  std::vector<Blank> fill(std::span<const std::string> texts, int64_t top_k);

  // The ids of a plain text, to compare with candidates.
  std::vector<int32_t> ids_of(const std::string& text) const;

 private:
  const text::Vocabulary& vocabulary() const { return tokenizer_.vocabulary(); }
  data::Sample sample_of(const std::string& text) const;
  void check(const data::Sample& sample, const std::string& text) const;
  void run(std::span<const data::Sample> samples, size_t first_text, int64_t top_k,
           std::vector<Blank>& blanks);

  models::BertConfig config_;
  text::Tokenizer tokenizer_;
  int64_t tokens_;
  engine::Session session_;
};

}  // namespace cloze::tasks
