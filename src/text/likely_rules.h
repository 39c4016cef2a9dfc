// The rules that a vocabulary was made with, guessed from its tokens, for vocabularies that come
// without files that state them. Text is normalised before it is cut, so a token that a rule would
// change was made without this rule:
//
//   a capital letter of any script         no lower-casing
//   an accent, a vowel sign, a syllable    no stripping of accents (which also takes syllables of
//   of Hangul                              Hangul apart)
//
// Tokens in brackets, as [CLS] and <S>, say nothing.
#pragma once

#include "text/tokenizer_options.h"
#include "text/vocabulary.h"

namespace cloze::text {

// Says whether these rules normalise every token as rules without lower-casing and stripping do.
bool is_unchanged_by(const Vocabulary& vocabulary, TokenizerOptions rules);

// strip_accents is set where it does not follow lower_case.
TokenizerOptions likely_rules(const Vocabulary& vocabulary);

}  // namespace cloze::text
