// A text, or a pair of texts, as the sequence that a model reads, with the place of every token in its
// text. Its ids are those of sequence_sample(), which tells what is cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tasks/truncation.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct EncodedSequence {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;       // of each: 0 of the first text, 1 of the second
  std::vector<text::Offset> bytes;  // of the token in its text; of [CLS] and [SEP] 0, 0
  std::vector<uint8_t> is_border;   // 1 for these
  Truncation texts;                 // both together
  uint64_t num_invalid = 0;         // sequences that are not UTF-8, left out
};

struct EncodingRule {
  std::optional<int64_t> max_length = {};  // of the sequence; unset: nothing is cut
  bool has_borders = true;                 // [CLS] first [SEP] second [SEP]; else first second
};

// UserError when max_length has no room for the borders, or a text is 4 GiB or more.
EncodedSequence encoded_sequence(std::string_view first, std::optional<std::string_view> second,
                                 const text::Tokenizer& tokenizer, const EncodingRule& rule);

}  // namespace cloze::tasks
