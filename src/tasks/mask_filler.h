// Filling in blanks: what a pre-trained model expects at each [MASK] of a text.
//
// Errors: UserError for a model of another kind, a text without [MASK] or longer than the model's
// positions; DataError for a model whose logits are not finite.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample.h"
#include "inference/inference_client.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct Candidate {
  int32_t id = 0;
  std::string token;
  double probability = 0.0;
};

struct Blank {
  size_t text = 0;                    // index of the text
  int64_t start = 0;                  // where [MASK] is in it, in code points
  int64_t end = 0;                    // exclusive
  text::Offset bytes;                 // the same in bytes
  std::vector<Candidate> candidates;  // most probable first
};

struct FilledTexts {
  std::vector<Blank> blanks;           // every [MASK] of every text, in order
  std::vector<UnknownTokens> unknown;  // of each text
};

// Counts the [MASK] of a text.
int64_t count_blanks(std::string_view text);

class MaskFiller {
 public:
  // `num_threads` run a batch together; 0: all processors.
  MaskFiller(std::shared_ptr<const inference::PackedModel> model, int num_threads);

  // A text may have two parts, separated by " [SEP] ".
  FilledTexts fill(std::span<const std::string> texts, int64_t top_k);

  // The ids of a plain text, to compare with candidates.
  std::vector<int32_t> ids_of(const std::string& text) const;

 private:
  const text::Tokenizer& tokenizer() const { return client_.model().tokenizer(); }
  const text::Vocabulary& vocabulary() const { return tokenizer().vocabulary(); }
  data::Sample sample_of(const std::string& text) const;
  void check(const data::Sample& sample, const std::string& text) const;
  UnknownTokens unknown_of(const data::Sample& sample, const std::string& text) const;

  inference::InferenceClient client_;
};

}  // namespace cloze::tasks
