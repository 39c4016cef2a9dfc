#include "text/sentence_splitter.h"

#include <algorithm>
#include <array>

#include "text/ascii.h"
#include "text/python_string.h"
#include "text/sentence_marks.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

// Abbreviations in small letters, without the last full stop. None of them is a common word that
// could end a sentence in another of these languages, as mind. (mindestens) would be in English,
// and sig. (siguiente) in Danish and Swedish.
constexpr auto kAbbreviations = std::to_array<std::string_view>(
    {// English
     "a.k.a", "al", "approx", "assoc", "aug", "ave", "b", "bros", "c", "ca", "co", "corp", "dec",
     "dept", "ed", "eds", "esp", "est", "etc", "ext", "feb", "fr", "ft", "inc", "jan", "jr", "jul",
     "jun", "ltd", "nov", "oct", "ph.d", "pvt", "sep", "sr", "v",
     // German
     "abb", "bspw", "bzw", "dipl", "evtl", "geb", "gest", "ggf", "hrsg", "inkl", "jh", "jhd",
     "jhdt", "mio", "mrd", "sog", "std", "str", "tel", "usw", "vgl", "zzgl",
     // French, Italian, Portuguese, Spanish
     "av", "ej", "env", "ing", "pág", "págs", "vv",
     // Dutch, Polish, Swedish, Turkish, Vietnamese
     "bijv", "blz", "bl.a", "d.v.s", "enz", "m.in", "np", "org", "tj", "tp", "ul", "ur", "vd", "yy",
     "zm",
     // Russian, Ukrainian
     "акад", "англ", "букв", "гл", "гр", "ед", "итал", "им", "лат", "млн", "млрд", "напр", "нем",
     "обл", "ок", "пос", "проф", "рус", "св", "см", "ср", "стр", "тыс", "ул", "фр"});

// These are abbreviations only before a number.
constexpr auto kNumberedAbbreviations = std::to_array<std::string_view>(
    {"app", "art", "cap", "ch",   "eq",  "fig",  "figs", "no",   "nos", "nr", "op",
     "p",   "pop", "pp",  "prov", "sec", "sept", "vol",  "vols", "род", "ум"});

// Words that often open a sentence.
constexpr auto kSentenceOpeners = std::to_array<std::string_view>(
    {"A", "After", "Although", "An", "As", "At", "But", "By", "During", "For", "From", "He", "His",
     "How", "However", "If", "In", "It", "Its", "Many", "On", "She", "Since", "Some", "The",
     "Their", "There", "These", "They", "This", "Those", "To", "We", "What", "When", "While",
     "With",
     // German, French, Italian, Spanish, Russian
     "Am", "Auch", "Das", "Der", "Die", "Ein", "Eine", "Er", "Es", "Im", "Sie", "Wir", "Ce",
     "Cette", "Dans", "Elle", "Il", "Ils", "La", "Le", "Les", "Un", "Une", "El", "En", "Los", "Las",
     "Se", "Su", "В", "Он", "Она", "Они", "На", "По", "После"});

// These stand before a name or number and so never close a sentence.
constexpr auto kTitles = std::to_array<std::string_view>(
    {"adm",  "brig", "capt", "cf",  "cmdr", "col",    "cpl",  "dr",  "drs", "e.g", "gen",
     "gov",  "hon",  "i.e",  "lt",  "maj",  "messrs", "mr",   "mrs", "ms",  "mt",  "pres",
     "prof", "rep",  "rev",  "sen", "sgt",  "st",     "supt", "viz", "vs",  "डॉ"});

// A number with a full stop before one of these is the day of a German date.
constexpr auto kMonths = std::to_array<std::string_view>(
    {"Januar", "Jänner", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September",
     "Oktober", "November", "Dezember"});

template <typename Words>
bool contains_word(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::ranges::end(words);
}

bool is_number(std::string_view word) { return std::ranges::all_of(word, is_ascii_digit); }

// "J", "А", "z" and, of a script without small and large letters, Arabic's "ز".
bool is_one_letter(std::string_view word) {
  const DecodedCodePoint first = decode_utf8(word, 0);
  const bool is_arabic = first.code_point >= 0x0620 && first.code_point <= 0x06D3;
  return first.bytes == word.size() &&
         (is_arabic || is_upper_letter(first.code_point) || is_lower_letter(first.code_point));
}
bool is_initial(std::string_view word) {
  return is_one_letter(word) && !is_lower_letter(decode_utf8(word, 0).code_point) && word != "I";
}

bool has_inner_stop(std::string_view word) {
  const size_t stop = word.find('.');
  return stop != std::string_view::npos && !word.ends_with('.') && !is_ascii_digit(word.back());
}

// The place in a text where a part of it ends.
size_t end_of(std::string_view text, std::string_view part) {
  return static_cast<size_t>(part.data() + part.size() - text.data());
}

// The bytes that next_stop() looks for: the first bytes of stops, and the second ones of those
// outside ASCII.
struct StopBytes {
  std::array<bool, 256> first{};
  std::array<bool, 256> second{};
};
constexpr StopBytes kStopBytes = [] {
  StopBytes bytes;
  const auto add = [&](std::string_view stop) {
    bytes.first[static_cast<unsigned char>(stop[0])] = true;
    if (stop.size() > 1) bytes.second[static_cast<unsigned char>(stop[1])] = true;
  };
  for (const std::string_view stop : kSpacedStops) add(stop);
  for (const std::string_view stop : kFullStops) add(stop);
  bytes.first[' '] = true;  // between two Thai sentences
  return bytes;
}();

bool may_stop(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (!kStopBytes.first[byte(at)]) return false;
  if (text[at] == ' ') return at >= 3 && text[at - 3] == '\xE0';
  return byte(at) < 0x80 || (at + 1 < text.size() && kStopBytes.second[byte(at + 1)]);
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

// These scripts have no stop mark: a space separates their sentences, except after a repetition
// mark.
bool is_thai_gap(std::string_view text, size_t space, size_t next) {
  constexpr auto kRepetitionMarks = std::to_array<std::string_view>({"\u0E46", "\u0EC6"});
  if (next <= space || space < 3) return false;
  return is_thai_or_lao(text, space - 3) && is_thai_or_lao(text, next) &&
         !contains_word(kRepetitionMarks, text.substr(space - 3, 3));
}

bool is_letter_byte(char c) {
  return (c >= 'a' && c <= 'z') || is_ascii_upper(c) || static_cast<unsigned char>(c) >= 0x80;
}

bool ends_in_japanese_closer(std::string_view text) {
  return text.size() >= 3 && japanese_closer_length(text, text.size() - 3) > 0;
}

std::string_view trim(std::string_view text) {
  text.remove_prefix(skip(text, 0, space_length));
  while (!text.empty()) {
    const DecodedCodePoint last = decode_utf8_before(text, text.size());
    if (!last.is_valid || !is_python_space(last.code_point)) break;
    text.remove_suffix(last.bytes);
  }
  return text;
}

}  // namespace

// A stop with what closes after it: bytes [begin, end), the marks up to `stops_end`.
struct SentenceSplitter::Stop {
  size_t begin = 0;
  size_t stops_end = 0;
  size_t end = 0;
  bool is_full = false;  // among the marks is one that needs no white space
};

// Goes through a paragraph from stop to stop.
class SentenceSplitter::Reader {
 public:
  Reader(const SentenceSplitter& splitter, std::string_view paragraph)
      : splitter_(splitter), paragraph_(paragraph) {}

  std::vector<std::string_view> sentences() {
    for (size_t at = next_stop(0); at < paragraph_.size();) {
      const Stop stop = stop_at(at);
      const size_t next = skip(paragraph_, stop.end, space_length);
      if (next == paragraph_.size()) break;
      if (stop.stops_end == at) {
        if (is_thai_gap(paragraph_, at, next)) cut(at, next);
      } else if (has_letter(at) && splitter_.ends_sentence(paragraph_, stop, next)) {
        cut(stop.end, next);
      }
      at = next_stop(std::max({stop.end, next, at + 1}));
    }
    if (const std::string_view rest = trim(paragraph_.substr(begin_)); !rest.empty()) {
      sentences_.push_back(rest);
    }
    return std::move(sentences_);
  }

 private:
  size_t next_stop(size_t at) const {
    while (at < paragraph_.size() && !may_stop(paragraph_, at)) ++at;
    return at;
  }

  Stop stop_at(size_t at) {
    Stop stop{.begin = at, .stops_end = skip(paragraph_, at, stop_length)};
    for (size_t mark = at; mark < stop.stops_end; mark += stop_length(paragraph_, mark)) {
      stop.is_full |= full_stop_length(paragraph_, mark) > 0;
    }
    // Tibetan has a space between two of its stops.
    size_t next = skip(paragraph_, stop.stops_end, space_length);
    while (stop.is_full && next < paragraph_.size() && full_stop_length(paragraph_, next) > 0) {
      stop.stops_end = skip(paragraph_, next, stop_length);
      next = skip(paragraph_, stop.stops_end, space_length);
    }
    stop.end = skip(paragraph_, stop.stops_end,
                    stop.is_full ? closer_length : closer_after_spaced_stop_length);
    if (stop.stops_end > at && !stop.is_full) take_spaced_closer(stop);
    return stop;
  }

  // French sets a space before », and tokenised text before every quotation mark.
  void take_spaced_closer(Stop& stop) {
    const size_t quote = skip(paragraph_, stop.end, space_length);
    if (quote == stop.end || quote == paragraph_.size()) return;
    const size_t bytes = closing_quote_length(paragraph_, quote);
    const size_t end = quote + bytes;
    if (bytes == 0 || end == paragraph_.size() || !goes_on_after_quote(end)) return;
    if (paragraph_[quote] != '"' || closes_quotation(quote)) stop.end = end;
  }

  bool goes_on_after_quote(size_t end) const {
    return space_length(paragraph_, end) > 0 || stop_length(paragraph_, end) > 0 ||
           std::string_view(",;:)").find(paragraph_[end]) != std::string_view::npos;
  }

  // Says whether a straight quote with white space on both sides closes a quotation: before marks
  // that go on, or where the sentence opened one.
  bool closes_quotation(size_t quote) {
    const size_t next = skip(paragraph_, quote + 1, space_length);
    if (next == paragraph_.size()) return true;
    const char32_t first = decode_utf8(paragraph_, next).code_point;
    if (!is_word_character(first) && !can_begin_sentence(paragraph_, next)) return true;
    for (; counted_ < quote; ++counted_) quote_is_open_ ^= paragraph_[counted_] == '"';
    return quote_is_open_;
  }

  // Says whether the open sentence has a letter before `end`. Each byte is looked at once.
  bool has_letter(size_t end) {
    while (searched_ < end && !is_letter_byte(paragraph_[searched_])) ++searched_;
    return searched_ < end;
  }

  void cut(size_t end, size_t next) {
    sentences_.push_back(trim(paragraph_.substr(begin_, end - begin_)));
    begin_ = counted_ = searched_ = next;
    quote_is_open_ = false;
  }

  const SentenceSplitter& splitter_;
  std::string_view paragraph_;
  size_t begin_ = 0;     // of the sentence that is open
  size_t searched_ = 0;  // no letter before
  size_t counted_ = 0;   // straight quotes before are in quote_is_open_
  bool quote_is_open_ = false;
  std::vector<std::string_view> sentences_;
};

SentenceSplitter::SentenceSplitter(const StopHabits& learned)
    : has_ordinals_(learned.has_ordinals) {
  for (const std::string_view word : kAbbreviations) abbreviations_.emplace(word);
  for (const std::string_view word : kSentenceOpeners) openers_.emplace(word);
  abbreviations_.insert(learned.abbreviations.begin(), learned.abbreviations.end());
  openers_.insert(learned.openers.begin(), learned.openers.end());
}

std::vector<std::string_view> SentenceSplitter::split(std::string_view paragraph) const {
  return Reader(*this, paragraph).sentences();
}

// Says whether the sentence ends at the stop, paragraph[next] being what comes after it and white
// space.
bool SentenceSplitter::ends_sentence(std::string_view paragraph, const Stop& stop,
                                     size_t next) const {
  const std::string_view marks = paragraph.substr(stop.begin, stop.end - stop.begin);
  if (next == stop.end) {
    if (stop_length(paragraph, next) > 0) return false;
    const bool is_full = stop.is_full || ((marks.back() == '!' || marks.back() == '?') &&
                                          is_unspaced(paragraph, next));
    return is_full && !ends_in_japanese_closer(marks);
  }
  if (stop.is_full) return true;
  if (!can_begin_sentence(paragraph, next)) return false;
  const bool is_lone = marks == ".";
  return !(is_lone && stop_belongs_to_word(word_before(paragraph, stop.begin), paragraph, next));
}

// Says whether the lone full stop after `word` belongs to the word and ends nothing.
bool SentenceSplitter::stop_belongs_to_word(std::string_view word, std::string_view paragraph,
                                            size_t next) const {
  if (word.empty()) return false;
  const std::string small = python_lower(word);
  if (contains_word(kTitles, small)) return true;
  if (contains_word(kNumberedAbbreviations, small) && is_ascii_digit(paragraph[next])) return true;
  const std::string_view following = word_at(paragraph, next);
  const bool is_opener = openers_.contains(following);
  if (is_number(word)) {
    if (word.size() > kOrdinalDigits || following.empty() || is_ascii_digit(following[0]))
      return false;
    return contains_word(kMonths, following) || (has_ordinals_ && !is_opener);
  }
  const bool is_before_initial = !following.empty() && is_one_letter(following) &&
                                 paragraph.substr(end_of(paragraph, following)).starts_with('.');
  if (is_one_letter(word) && word != "I" && is_before_initial) return true;
  return !is_opener && (is_initial(word) || has_inner_stop(word) || abbreviations_.contains(small));
}

}  // namespace cloze::text
