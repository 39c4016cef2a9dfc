#include "text/sentence_splitter.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/ascii.h"

namespace cloze::text {
namespace {

// Lower case, without the last full stop. One that stands before a sentence opener ends its own.
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

constexpr auto kClosers =
    std::to_array<std::string_view>({"\"", "'", ")", "]", "\u201D", "\u2019", "\u00BB"});

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

// "J", "U.S", "Ph.D": a single letter, or letters parted by stops.
bool is_single_initial(std::string_view word) {
  return word.size() == 1 && is_ascii_upper(word[0]);
}
bool has_inner_stop(std::string_view word) {
  return word.find('.') != std::string_view::npos && is_letter(word.back());
}

// Whether the lone full stop behind `word` belongs to the word and ends nothing.
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

// Bytes that begin a stop mark.
constexpr std::array<bool, 256> kMayStop = [] {
  std::array<bool, 256> table{};
  for (const char c : {'.', '!', '?', '\xE2'}) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

size_t next_stop(std::string_view text, size_t at) {
  while (at < text.size() && !kMayStop[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

// The length of the stop mark at `at`, 0 when there is none.
size_t stop_length(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '.' || c == '!' || c == '?') return 1;
  return text.substr(at).starts_with("\u2026") ? 3 : 0;
}

size_t closer_length(std::string_view text, size_t at) {
  for (std::string_view closer : kClosers) {
    if (text.substr(at).starts_with(closer)) return closer.size();
  }
  return 0;
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

}  // namespace

std::vector<std::string_view> split_sentences(std::string_view paragraph) {
  std::vector<std::string_view> sentences;
  size_t begin = 0;
  for (size_t at = next_stop(paragraph, 0); at < paragraph.size(); at = next_stop(paragraph, at)) {
    const size_t stops_end = skip(paragraph, at, stop_length);
    if (stops_end == at) {
      ++at;
      continue;
    }
    const size_t end = skip(paragraph, stops_end, closer_length);
    const size_t next = skip(paragraph, end, space_length);
    const bool lone_stop = stops_end == at + 1 && end == stops_end && paragraph[at] == '.';
    if (next > end && next < paragraph.size() && can_begin_sentence(paragraph, next) &&
        !(lone_stop && stop_belongs_to_word(word_before(paragraph, at), paragraph, next))) {
      sentences.push_back(trim_ascii(paragraph.substr(begin, end - begin)));
      begin = next;
    }
    at = std::max(end, at + 1);
  }
  const std::string_view rest = trim_ascii(paragraph.substr(begin));
  if (!rest.empty()) sentences.push_back(rest);
  return sentences;
}

}  // namespace cloze::text
