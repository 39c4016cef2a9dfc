// Splits a paragraph into sentences, by rule and by what the text itself has shown.
//
// A sentence ends at a run of . ! ? … with the quotes and brackets that close after it, when white
// space follows and then something that can begin a sentence (can_begin_sentence() of
// sentence_marks.h). A lone full stop does not end one after
//   a title                 Mr. Dr. St. e.g. cf.
//   an abbreviation         Inc. bzw. г. (some only before a digit: No. 5, p. 12)
//   an initial              J. Smith, А. С. Пушкин, z. B.
//   letters with stops      U.S. Navy, J.-C.
//   an ordinal              am 3. Oktober; before other words than months (im 3. Stock) only where
//                           the text has shown that it writes them so
// unless, for all but titles, a word follows that often opens a sentence (The, In, Der). No stop
// ends a sentence that has no letter yet (1. 2. (...)).
// The stops of Arabic, Urdu and Armenian end a sentence when white space follows; those of Chinese
// and Japanese, the dandas of India, the stops of Tibetan, Burmese, Ethiopic and Khmer whatever
// follows, except after a Japanese quotation that the sentence continues; so do ! and ? before a
// Chinese character or a Japanese syllable. Thai and Lao have no stop: there a space between two of
// their letters ends a sentence.
//
// Titles, abbreviations and openers of the commonest languages are known; those that the text has
// shown (stop_habits.h) are added to them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "text/stop_habits.h"

namespace cloze::text {

class SentenceSplitter {
 public:
  explicit SentenceSplitter(const StopHabits& learned = {});

  // The sentences in order, without the white space around them. Views into `paragraph`.
  // Thread-safe.
  std::vector<std::string_view> split(std::string_view paragraph) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  using Words = std::unordered_set<std::string, Hash, std::equal_to<>>;
  struct Stop;
  class Reader;

  bool ends_sentence(std::string_view paragraph, const Stop& stop, size_t next) const;
  bool stop_belongs_to_word(std::string_view word, std::string_view paragraph, size_t next) const;

  Words abbreviations_;
  Words openers_;
  bool has_ordinals_ = false;
};

}  // namespace cloze::text
