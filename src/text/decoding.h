// Decoding: from ids back to text, as the `tokenizers` package has it. What tokenising took away, such
// as capitals, accents and white space, does not come back.
//
// Tokens are joined by single spaces, but for pieces that go on with a word (##), and for tokens that
// begin with . ? ! , n't 'm 's 've 're.
// Source: tokenizers' WordPiece decoder with its cleanup.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "text/vocabulary.h"

namespace cloze::text {

// Says whether an id is one of [PAD] [UNK] [CLS] [SEP] [MASK].
bool is_special(int32_t id, const Vocabulary& vocabulary);

// The text of ids, each in [0, vocabulary.size()).
std::string decoded_text(std::span<const int32_t> ids, const Vocabulary& vocabulary,
                         bool skips_special);

}  // namespace cloze::text
