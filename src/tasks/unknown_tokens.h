// Counts what of an input is [UNK] to a model: words that its vocabulary cannot spell, which it cannot
// tell apart.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "text/counted_text.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct UnknownTokens {
  int64_t tokens = 0;   // that were read, without special ones
  int64_t unknown = 0;  // of these
  // Characters or words that they stand for, the most frequent first; none where a trace is unknown.
  std::vector<text::CountedText> causes;

  // Counts the ids of an input.
  void count(std::span<const int32_t> ids, const text::Vocabulary& vocabulary);
  // Looks for the causes in the texts that the ids were cut from, unless only a trace is unknown.
  void find_causes(std::span<const std::string_view> texts, const text::Tokenizer& tokenizer);

  bool is_more_than_a_trace() const;  // 0.5 % of the tokens
};

// Adds to the reply to an input of which more than a trace is unknown:
// {..., "unknown": {"tokens": 6, "count": 2, "most_often": ["北", "京"]}}: 2 of 6 tokens.
void add_unknown(formats::Json& reply, const UnknownTokens& unknown);

}  // namespace cloze::tasks
