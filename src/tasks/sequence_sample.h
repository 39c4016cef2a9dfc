// A text, or a pair of texts, as one sequence: [CLS] first [SEP], or [CLS] first [SEP] second
// [SEP] with token types 0 and 1.
//
// A text that is too long loses its end, or its start where that is asked for: of a pair always the
// longer text, the second where both are of one length, until all fits. Source: google-research/bert
// run_classifier.py.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/sample.h"
#include "tasks/truncation.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

// Numbers of tokens of the two parts of a pair; of a single text the second has none.
struct PartLengths {
  int64_t first = 0;
  int64_t second = 0;

  int64_t sum() const { return first + second; }
};

// Cuts parts until they fit into `room` tokens together, and returns what is left of each.
PartLengths kept_lengths(const PartLengths& tokens, int64_t room);

// The tokens that a text which is too long loses.
enum class CutSide { kEnd, kStart };

// UserError that names max_seq_length where it is too short.
void require_length(int64_t max_sequence_length, int64_t least);

struct SequenceSample {
  data::Sample sample;
  Truncation texts;  // both together
};

// max_length is at least 3, for the special tokens of a pair.
SequenceSample sequence_sample(std::string_view first, std::optional<std::string_view> second,
                               const text::Tokenizer& tokenizer, int64_t max_length,
                               CutSide side = CutSide::kEnd);

struct SequenceTexts {
  std::string_view first;
  std::optional<std::string_view> second;
};

struct SequenceSamples {
  std::vector<data::Sample> samples;  // in the order of the texts
  int64_t num_cut = 0;                // texts or pairs that were too long
};

// The same of many; `texts` says those of each number from 0 to count - 1, on several threads.
SequenceSamples sequence_samples(int64_t count, const std::function<SequenceTexts(int64_t)>& texts,
                                 const text::Tokenizer& tokenizer, int64_t max_length, int threads);

// Several sequences, such as a question with each of its choices, as one sample.
data::Sample joined_sample(std::span<const data::Sample> sequences);

// Sets what is learned of a sequence: the number of its class, or its score.
void set_label(double label, bool is_regression, data::Sample& sample);

}  // namespace cloze::tasks
