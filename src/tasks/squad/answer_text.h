// The text of an answer given as WordPiece tokens: the part of the original words that the tokens
// came from, found again by comparing characters, as run_squad.py's get_final_text does.
//
// The words are tokenised once more and the answer is looked for in the result. If both sides have
// the same number of characters, spaces aside, the characters correspond one to one and the
// answer's first and last are taken from the original. Else (an accent fell away, [UNK], bytes that
// are not UTF-8) all words stand for the answer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "text/basic_tokenizer.h"
#include "text/vocabulary.h"

namespace cloze::tasks {

// "un", "##aff", "##able", "!" → "unaff able !" with its pieces joined: "unaffable !".
std::string joined_pieces(const text::Vocabulary& vocabulary, std::span<const int32_t> ids);

// Bytes of `words`, which are joined by single spaces.
text::Offset aligned_answer(std::string_view pieces, std::string_view words,
                            const text::BasicTokenizer& tokenizer);

}  // namespace cloze::tasks
