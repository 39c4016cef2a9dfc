// The characters that sentences begin and end with, in the scripts of the world.
//
// Functions named ..._length give the bytes of such a mark at text[at], 0 where none stands there.
// Letters, their case and punctuation are those of Unicode 14 (unicode_tables.h, google).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace cloze::text {

// End a sentence when white space follows.
inline constexpr auto kSpacedStops =
    std::to_array<std::string_view>({".", "!", "?", "\u2026", "\u061F", "\u06D4",  // Arabic, Urdu
                                     "\u0589"});                                   // Armenian
// End a sentence whatever follows.
inline constexpr auto kFullStops =
    std::to_array<std::string_view>({"\u3002", "\uFF01", "\uFF1F", "\uFF61",  // Chinese, Japanese
                                     "\u0964", "\u0965",  // dandas of the scripts of India
                                     "\u0F0D", "\u0F0E",  // Tibetan
                                     "\u104B",            // Burmese
                                     "\u1362", "\u1367", "\u1368",  // Ethiopic
                                     "\u17D4", "\u17D5"});          // Khmer

size_t spaced_stop_length(std::string_view text, size_t at);
size_t full_stop_length(std::string_view text, size_t at);
size_t stop_length(std::string_view text, size_t at);

// Marks that close a quotation or a bracket right after a stop. “ and « do so only after one of
// kSpacedStops: after one of kFullStops they open the next quotation.
size_t closer_length(std::string_view text, size_t at);
size_t closer_after_spaced_stop_length(std::string_view text, size_t at);
// The closing quotes that a space may separate from the stop: " ” » ›
size_t closing_quote_length(std::string_view text, size_t at);
// 」 and 』, after which a Japanese sentence goes on: 「はい。」と言った。
size_t japanese_closer_length(std::string_view text, size_t at);

// White space, also the kinds that do not break a line, which French sets before its ! ? and ».
size_t space_length(std::string_view text, size_t at);

// Thai and Lao letters, whose sentences are parted by spaces.
bool is_thai_or_lao(std::string_view text, size_t at);
// Chinese characters and Japanese syllables, which are written without spaces.
bool is_unspaced(std::string_view text, size_t at);

bool is_upper_letter(char32_t c);
bool is_lower_letter(char32_t c);
// A letter, a digit, or a sign that belongs to one.
bool is_word_character(char32_t c);

// The letters, digits and inner full stops just before text[end]: "U.S" of "(U.S.", "Str" of
// "Goethe-Str.".
std::string_view word_before(std::string_view text, size_t end);

// Says whether a sentence may begin at text[at]: with " ' ( or [, whatever follows it; else, after
// any opening marks and dashes, with a digit, $, #, a capital, or a character outside ASCII that is
// no small letter.
bool can_begin_sentence(std::string_view text, size_t at);

// The word at text[at], after opening marks; empty where none is.
std::string_view word_at(std::string_view text, size_t at);

}  // namespace cloze::text
