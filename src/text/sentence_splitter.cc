#include "text/sentence_splitter.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/ascii.h"

namespace cloze::text {
namespace {

// In lower case, without the last full stop. Before a sentence opener, an abbreviation ends its
// sentence.
constexpr auto kAbbreviations = std::to_array<std::string_view>(
    {"a.k.a", "al",   "approx", "assoc", "aug", "ave", "b",   "bros", "c",    "ca", "co", "corp",
     "dec",   "dept", "ed",     "eds",   "esp", "est", "etc", "ex",   "feb",  "fr", "ft", "inc",
     "jan",   "jr",   "jul",    "jun",   "ltd", "nov", "oct", "sep",  "sept", "sr", "v"});

// These are abbreviations only before a number.
constexpr auto kNumberedAbbreviations =
    std::to_array<std::string_view>({"app", "art", "ch", "eq", "fig", "figs", "no", "nos", "nr",
                                     "op", "p", "pp", "sec", "vol", "vols"});

// Words that often open a sentence.
constexpr auto kSentenceOpeners = std::to_array<std::string_view>(
    {"A",     "After", "Although", "An",   "As",      "At",    "But",   "By",    "During", "For",
     "From",  "He",    "His",      "How",  "However", "If",    "In",    "It",    "Its",    "Many",
     "On",    "She",   "Since",    "Some", "The",     "Their", "There", "These", "They",   "This",
     "Those", "To",    "We",       "What", "When",    "While", "With"});

// These stand before a name or number and so never close a sentence.
constexpr auto kTitles = std::to_array<std::string_view>(
    {"adm",  "brig", "capt", "cf",  "cmdr", "col",    "cpl", "dr",   "e.g", "gen",
     "gov",  "hon",  "i.e",  "lt",  "maj",  "messrs", "mr",  "mrs",  "ms",  "mt",
     "pres", "prof", "rep",  "rev", "sen",  "sgt",    "st",  "supt", "viz", "vs"});

constexpr auto kClosers = std::to_array<std::string_view>(
    {"\"", "'", ")", "]", "\u201D", "\u2019", "\u00BB", "\uFF09", "\u300B", "\u3011"});

// Close a quotation after which a Japanese sentence goes on: "\u300Cyes\u300D to itta".
constexpr auto kJapaneseClosers = std::to_array<std::string_view>({"\u300D", "\u300F"});

// End a sentence when white space follows.
constexpr auto kSpacedStops =
    std::to_array<std::string_view>({".", "!", "?", "\u2026", "\u061F", "\u06D4",  // Arabic, Urdu
                                     "\u0589"});                                   // Armenian

// End a sentence whatever follows.
constexpr auto kFullStops =
    std::to_array<std::string_view>({"\u3002", "\uFF01", "\uFF1F", "\uFF61",  // Chinese, Japanese
                                     "\u0964", "\u0965",  // dandas of the scripts of India
                                     "\u0F0D", "\u0F0E",  // Tibetan
                                     "\u104B",            // Burmese
                                     "\u1362", "\u1367", "\u1368",  // Ethiopic
                                     "\u17D4", "\u17D5"});          // Khmer

template <typename Words>
bool contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return is_ascii_upper(c) || is_lower(c); }
bool is_outside_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// The letters and inner stops just before `end`, with any opening quote or bracket left out.
std::string_view word_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && (is_letter(text[begin - 1]) || is_outside_ascii(text[begin - 1]) ||
                       text[begin - 1] == '.')) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

std::string_view letters_at(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && is_letter(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// "J", "U.S", "Ph.D": a single letter, or letters separated by stops.
bool is_single_initial(std::string_view word) {
  return word.size() == 1 && is_ascii_upper(word[0]);
}
bool has_inner_stop(std::string_view word) {
  return word.find('.') != std::string_view::npos && is_letter(word.back());
}

// Whether the lone full stop after `word` belongs to the word and ends nothing.
bool stop_belongs_to_word(std::string_view word, std::string_view text, size_t next) {
  if (word.empty()) return false;
  const std::string small = lower_ascii(word);
  if (contains(kTitles, small)) return true;
  if (contains(kNumberedAbbreviations, small) && is_digit(text[next])) return true;
  const bool opener = contains(kSentenceOpeners, letters_at(text, next));
  if (is_single_initial(word) && word != "I") return true;
  return (is_single_initial(word) || contains(kAbbreviations, small) || has_inner_stop(word)) &&
         !opener;
}

bool can_begin_sentence(std::string_view text, size_t at) {
  const char c = text[at];
  return is_ascii_upper(c) || is_digit(c) || is_outside_ascii(c) || c == '"' || c == '\'' ||
         c == '(' || c == '[';
}

// The first bytes of marks, and the space that may separate two Thai sentences.
constexpr std::array<bool, 256> kMayStop = [] {
  std::array<bool, 256> table{};
  table[static_cast<unsigned char>(' ')] = true;
  for (const auto stop : kSpacedStops) table[static_cast<unsigned char>(stop[0])] = true;
  for (const auto stop : kFullStops) table[static_cast<unsigned char>(stop[0])] = true;
  return table;
}();

size_t next_stop(std::string_view text, size_t at) {
  while (at < text.size() && !kMayStop[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

// The length of the one of `marks` that stands at `at`, 0 when none does.
template <typename Marks>
size_t length_of(const Marks& marks, std::string_view text, size_t at) {
  for (const std::string_view mark : marks) {
    if (text.substr(at).starts_with(mark)) return mark.size();
  }
  return 0;
}

size_t full_stop_length(std::string_view text, size_t at) {
  return length_of(kFullStops, text, at);
}
size_t stop_length(std::string_view text, size_t at) {
  const size_t spaced = length_of(kSpacedStops, text, at);
  return spaced > 0 ? spaced : full_stop_length(text, at);
}
size_t closer_length(std::string_view text, size_t at) {
  const size_t closer = length_of(kClosers, text, at);
  return closer > 0 ? closer : length_of(kJapaneseClosers, text, at);
}

template <typename Length>
size_t skip(std::string_view text, size_t at, const Length& length) {
  while (at < text.size()) {
    const size_t bytes = length(text, at);
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

size_t space_length(std::string_view text, size_t at) { return is_ascii_space(text[at]) ? 1 : 0; }

// Thai and Lao, U+0E00 to U+0EFF: E0 B8 80 to E0 BB BF.
bool is_thai_or_lao(std::string_view text, size_t at) {
  return at + 2 < text.size() && text[at] == '\xE0' && text[at + 1] >= '\xB8' &&
         text[at + 1] <= '\xBB';
}

// These scripts have no stop mark: a space separates their sentences, except after a repetition
// mark.
bool is_thai_gap(std::string_view text, size_t space, size_t next) {
  constexpr auto kRepetitionMarks = std::to_array<std::string_view>({"\u0E46", "\u0EC6"});
  return next > space && space >= 3 && is_thai_or_lao(text, space - 3) &&
         is_thai_or_lao(text, next) && length_of(kRepetitionMarks, text, space - 3) == 0;
}

// A stop with what closes after it: bytes [begin, end), the marks up to `stops_end`.
struct Stop {
  size_t begin = 0;
  size_t stops_end = 0;
  size_t end = 0;
  bool is_full = false;  // among the marks is one that needs no white space
};

Stop stop_at(std::string_view text, size_t at) {
  Stop stop{.begin = at, .stops_end = skip(text, at, stop_length)};
  for (size_t mark = at; mark < stop.stops_end; mark += stop_length(text, mark)) {
    stop.is_full |= full_stop_length(text, mark) > 0;
  }
  // Tibetan has a space between two of its stops.
  size_t next = skip(text, stop.stops_end, space_length);
  while (stop.is_full && next < text.size() && full_stop_length(text, next) > 0) {
    stop.stops_end = skip(text, next, stop_length);
    next = skip(text, stop.stops_end, space_length);
  }
  stop.end = skip(text, stop.stops_end, closer_length);
  return stop;
}

bool ends_in_japanese_closer(std::string_view text) {
  return std::ranges::any_of(kJapaneseClosers,
                             [&](std::string_view closer) { return text.ends_with(closer); });
}

// Whether the sentence ends at the stop, text[next] being what comes after it and white space.
bool ends_sentence(std::string_view text, const Stop& stop, size_t next) {
  if (stop.is_full && next == stop.end) {
    return !ends_in_japanese_closer(text.substr(stop.begin, stop.end - stop.begin));
  }
  if (stop.is_full) return true;
  if (next == stop.end || !can_begin_sentence(text, next)) return false;
  const bool is_lone = stop.end == stop.begin + 1 && text[stop.begin] == '.';
  return !(is_lone && stop_belongs_to_word(word_before(text, stop.begin), text, next));
}

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view paragraph) {
  std::vector<std::string_view> sentences;
  size_t begin = 0;
  const auto cut = [&](size_t end, size_t next) {
    sentences.push_back(trim_ascii(paragraph.substr(begin, end - begin)));
    begin = next;
  };
  for (size_t at = next_stop(paragraph, 0); at < paragraph.size(); at = next_stop(paragraph, at)) {
    const Stop stop = stop_at(paragraph, at);
    const size_t next = skip(paragraph, stop.end, space_length);
    if (next == paragraph.size()) break;
    if (stop.stops_end > at && ends_sentence(paragraph, stop, next)) cut(stop.end, next);
    if (stop.stops_end == at && is_thai_gap(paragraph, at, next)) cut(at, next);
    at = std::max({stop.end, next, at + 1});
  }
  const std::string_view rest = trim_ascii(paragraph.substr(begin));
  if (!rest.empty()) sentences.push_back(rest);
  return sentences;
}

}  // namespace cloze::text
