// Learns from a text, without being told its language, what its full stops do (stop_habits.h).
//
// An abbreviation is a word that bears a stop nearly always, is short, and is followed by words
// that are capitalised for themselves, not because they begin a sentence. With N words, S of them
// before a stop, and for a word of L letters, k times before a stop and m times not, the score is
//
//   2 (log of the likelihood of k in k + m under p = 0.99 - the same under p = S / N)
//     exp(-L) (1 + inner stops) / L^m
//
// and a word that scores at least 0.3 is an abbreviation if at most 3 of 10 capitalised words that
// follow it are openers. A word is an opener when it is written with a small letter more often than
// with a capital one that no stop explains. An abbreviation must have borne a stop, and have been
// followed by a capitalised word, 3 times; an opener that is learned must have opened 3 sentences,
// and at least 3 of 4 of its occurrences must open one. Words of scripts without small and large
// letters give no such sign, and are left alone.
// Stops after numbers of one or two digits make ordinals when at least 7 of 10 of the words that
// follow (8 or more) are no openers.
//
// Source: Kiss and Strunk, Unsupervised Multilingual Sentence Boundary Detection, Computational
// Linguistics 32(4), 2006: the score, its threshold and the use of capitals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/stop_habits.h"

namespace cloze::text {

class StopHabitLearner {
 public:
  // Memory grows with the number of different words.
  void add(std::string_view paragraph);
  StopHabits learn() const;

 private:
  struct Word {
    int64_t occurrences = 0;
    int64_t stopped = 0;  // before a full stop
    int64_t opening = 0;  // where a sentence may begin
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  struct Abbreviation {
    int64_t occurrences = 0;
    int64_t stopped = 0;
    int64_t followers = 0;  // capitalised words after its stop
    int64_t openers = 0;    // among them
  };

  Word& word_of(std::string_view word) { return words_[id_of(word)]; }
  uint32_t id_of(std::string_view word);
  void add_follower(std::string_view word, std::string_view follower);
  bool is_opener(uint32_t id) const;
  static bool is_capitalised_to_open(const Word& word);
  double score(const std::string& small, const Abbreviation& counted) const;
  std::unordered_map<std::string, Abbreviation> candidates() const;
  bool has_ordinals() const;

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> ids_;
  std::vector<Word> words_;         // by id
  std::vector<std::string> names_;  // by id
  // Capitalised words by what they follow: the ids of both.
  std::unordered_map<uint64_t, int64_t> followers_;
  std::unordered_map<uint32_t, int64_t> after_numbers_;
  int64_t small_after_numbers_ = 0;
  int64_t all_words_ = 0;
  int64_t all_stopped_ = 0;
};

}  // namespace cloze::text
