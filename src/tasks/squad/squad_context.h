// The context of a SquadFeatures: its tokens, where each stands in the text, and where answers
// stand in the tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/squad/squad_data.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

enum class SquadStyle { kGoogle, kHuggingFace };  // see squad_features.h

struct SquadContext {
  std::vector<int32_t> ids;
  std::vector<text::Offset> offsets;  // of each token: bytes of the context
  // google only:
  std::vector<text::Offset> words;    // bytes; separated by space, tab, CR, LF or U+202F
  std::vector<uint32_t> token_words;  // of each token: its word
};

SquadContext tokenized_context(std::string_view text, const text::Tokenizer& tokenizer,
                               SquadStyle style);

// google: the text of words [first, last], with single spaces between them.
std::string joined_words(std::string_view text, const SquadContext& context, uint32_t first,
                         uint32_t last);

// google: a part of the text that lies in these words, with single spaces between them.
std::string single_spaced_part(std::string_view text, std::span<const text::Offset> words,
                               const text::Offset& part);

struct TokenSpan {
  uint32_t first = 0, last = 0;  // both included
  bool operator==(const TokenSpan&) const = default;
};

struct PlacedAnswer {
  std::optional<TokenSpan> tokens;  // nothing: no tokens of the context can stand for it
  bool is_misplaced = false;        // its text is not at its place
};

// google: the words that hold the answer's first and last code point; in them the first tokens
// equal to the answer's own, if there are any, else all. Misplaced, and without tokens, when the
// words do not hold the answer's text, white space aside.
PlacedAnswer placed_by_words(std::string_view text, const SquadContext& context,
                             const SquadAnswer& answer, const text::Tokenizer& tokenizer);
// hugging face: from the last token that begins at the answer's begin or before it to the first
// that ends at its end or after it, whatever the answer's text is. An answer inside a character of
// several tokens (a Korean syllable) has all of them.
PlacedAnswer placed_by_offsets(std::string_view text, const SquadContext& context,
                               const SquadAnswer& answer);

}  // namespace cloze::tasks
