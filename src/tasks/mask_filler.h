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
#include "inference/inference_session.h"
#include "inference/pretrained_model.h"

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

class MaskFiller {
 public:
  explicit MaskFiller(const std::filesystem::path& folder,
                      const inference::InferenceOptions& options = {});

  // Every [MASK] of every text, in order. A text may have two parts, parted by " [SEP] ".
  std::vector<Blank> fill(std::span<const std::string> texts, int64_t top_k);

  // The ids of a plain text, to compare with candidates.
  std::vector<int32_t> ids_of(const std::string& text) const;

 private:
  const text::Vocabulary& vocabulary() const { return model_.tokenizer.vocabulary(); }
  data::Sample sample_of(const std::string& text) const;
  void check(const data::Sample& sample, const std::string& text) const;

  inference::PretrainedModel model_;
  int64_t blanks_per_text_;  // at most
  inference::InferenceSession session_;
};

}  // namespace cloze::tasks
