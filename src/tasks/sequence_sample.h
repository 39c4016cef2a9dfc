// A text, or a pair of texts, as one sequence: [CLS] first [SEP], or [CLS] first [SEP] second
// [SEP] with token types 0 and 1.
//
// What is too long is cut at its end: of a pair always the longer text, the second where both are
// of one length, until all fits. Source: google-research/bert run_classifier.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/sample.h"
#include "tasks/truncation.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct SequenceSample {
  data::Sample sample;
  Truncation texts;  // both together
};

// max_length is at least 3, for the special tokens of a pair.
SequenceSample sequence_sample(std::string_view first, std::optional<std::string_view> second,
                               const text::Tokenizer& tokenizer, int64_t max_length);

}  // namespace cloze::tasks
