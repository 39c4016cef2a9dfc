// Finds where words begin and end in a text as it stands, for a part of it that should not begin or
// end inside one. Words are those of the basic tokenizer (letters, marks and digits in a row), and
// numbers are whole: "1,000", "3.5".
//
// Where a script does not set off its words by spaces (Thai, Lao, Khmer, Burmese, Javanese, Balinese,
// kana), any place between two characters may be a border; so it may in Korean, where particles
// follow their noun without a space. Ideographs are words of their own. A mark belongs to the
// character before it in every script. Sources: Unicode Standard Annexes 14 (class SA) and 29.
#pragma once

#include <string_view>

#include "text/word_builder.h"

namespace cloze::text {

// The bytes of the smallest part that holds `part` and neither begins nor ends inside a word.
Offset widened_to_words(std::string_view text, Offset part);

}  // namespace cloze::text
