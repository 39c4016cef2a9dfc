#include "text/stop_habit_learner.h"

#include <algorithm>
#include <cmath>

#include "text/ascii.h"
#include "text/python_string.h"
#include "text/sentence_marks.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr double kLeastScore = 0.3;
constexpr double kMostOpenersAfterAbbreviation = 0.3;
constexpr int64_t kLeastOccurrences = 3;
constexpr size_t kMostOpeners = 256;
constexpr int64_t kLeastOrdinals = 8;
constexpr double kLeastShareOfOrdinals = 0.7;

bool begins_upper(std::string_view word) {
  return !word.empty() && is_upper_letter(decode_utf8(word, 0).code_point);
}
bool begins_lower(std::string_view word) {
  return !word.empty() && is_lower_letter(decode_utf8(word, 0).code_point);
}
bool is_short_number(std::string_view word) {
  return word.size() <= kOrdinalDigits && std::ranges::all_of(word, is_ascii_digit);
}

// The end of the word that begins at `begin`: with inner stops and apostrophes.
size_t word_end(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size()) {
    const DecodedCodePoint next = decode_utf8(text, end);
    const bool is_inner = end > begin && (text[end] == '.' || text[end] == '\'');
    if (is_inner) {
      if (end + 1 == text.size() || !is_word_character(decode_utf8(text, end + 1).code_point))
        break;
    } else if (!next.is_valid || !is_word_character(next.code_point)) {
      break;
    }
    end += next.bytes;
  }
  return end;
}

bool is_sentence_end(char c) { return c == '.' || c == '!' || c == '?'; }

double log_likelihood(int64_t hits, int64_t misses, double probability) {
  return static_cast<double>(hits) * std::log(probability) +
         static_cast<double>(misses) * std::log1p(-probability);
}

}  // namespace

uint32_t StopHabitLearner::id_of(std::string_view word) {
  if (const auto found = ids_.find(word); found != ids_.end()) return found->second;
  const auto id = static_cast<uint32_t>(words_.size());
  ids_.emplace(word, id);
  words_.emplace_back();
  names_.emplace_back(word);
  return id;
}

void StopHabitLearner::add_follower(std::string_view word, std::string_view follower) {
  const uint64_t id = id_of(word);
  followers_[id << 32 | id_of(follower)] += 1;
}

void StopHabitLearner::add(std::string_view paragraph) {
  bool is_opening = true;
  for (size_t at = 0; at < paragraph.size();) {
    const size_t end = word_end(paragraph, at);
    if (end == at) {
      is_opening |= is_sentence_end(paragraph[at]);
      at += decode_utf8(paragraph, at).bytes;
      continue;
    }
    const std::string_view word = paragraph.substr(at, end - at);
    const std::string_view rest = paragraph.substr(end);
    const bool is_stopped = rest.starts_with('.') && !rest.starts_with("..");
    Word& counted = word_of(word);
    counted.occurrences += 1;
    counted.opening += is_opening ? 1 : 0;
    counted.stopped += is_stopped ? 1 : 0;
    all_words_ += 1;
    all_stopped_ += is_stopped ? 1 : 0;
    if (is_stopped && rest.size() > 1 && space_length(rest, 1) > 0) {
      const std::string_view follower = word_at(rest, 1);
      if (!is_short_number(word)) {
        if (begins_upper(follower)) add_follower(word, follower);
      } else if (!is_opening) {  // the numbers of a list open their lines
        if (begins_upper(follower)) after_numbers_[id_of(follower)] += 1;
        if (begins_lower(follower)) small_after_numbers_ += 1;
      }
    }
    is_opening = false;
    at = end;
  }
}

bool StopHabitLearner::is_opener(uint32_t id) const {
  const auto small = ids_.find(python_lower(names_[id]));
  const int64_t written_small = small == ids_.end() ? 0 : words_[small->second].occurrences;
  return written_small > words_[id].occurrences - words_[id].opening;
}

// A word that is often capitalised inside sentences may be a part of names: after "U.S.",
// "Government" does not show that a sentence begins.
bool StopHabitLearner::is_capitalised_to_open(const Word& word) {
  return word.opening >= 3 * (word.occurrences - word.opening);
}

double StopHabitLearner::score(const std::string& small, const Abbreviation& counted) const {
  const int64_t misses = counted.occurrences - counted.stopped;
  const double by_chance = static_cast<double>(all_stopped_) / static_cast<double>(all_words_);
  const double ratio = 2 * (log_likelihood(counted.stopped, misses, 0.99) -
                            log_likelihood(counted.stopped, misses, by_chance));
  const auto stops = static_cast<double>(std::ranges::count(small, '.'));
  const double letters = static_cast<double>(count_code_points(small)) - stops;
  return ratio * std::exp(-letters) * (1 + stops) * std::pow(letters, -static_cast<double>(misses));
}

// Words that bore a stop often enough, in small letters.
std::unordered_map<std::string, StopHabitLearner::Abbreviation> StopHabitLearner::candidates()
    const {
  std::unordered_map<std::string, Abbreviation> candidates;
  for (size_t id = 0; id < words_.size(); ++id) {
    if (words_[id].stopped == 0 || !is_valid_utf8(names_[id])) continue;
    if (std::ranges::any_of(names_[id], is_ascii_digit)) continue;
    if (begins_upper(names_[id]) || begins_lower(names_[id])) {
      candidates[python_lower(names_[id])];
    }
  }
  for (size_t id = 0; id < words_.size(); ++id) {
    if (!is_valid_utf8(names_[id])) continue;
    const auto found = candidates.find(python_lower(names_[id]));
    if (found == candidates.end()) continue;
    found->second.occurrences += words_[id].occurrences;
    found->second.stopped += words_[id].stopped;
  }
  for (const auto& [pair, count] : followers_) {
    const std::string& name = names_[pair >> 32];
    const auto found = is_valid_utf8(name) ? candidates.find(python_lower(name)) : candidates.end();
    if (found == candidates.end()) continue;
    found->second.followers += count;
    if (is_opener(static_cast<uint32_t>(pair))) found->second.openers += count;
  }
  return candidates;
}

bool StopHabitLearner::has_ordinals() const {
  int64_t all = small_after_numbers_;
  int64_t ordinals = small_after_numbers_;
  for (const auto& [id, count] : after_numbers_) {
    all += count;
    ordinals += is_opener(id) ? 0 : count;
  }
  return all >= kLeastOrdinals &&
         static_cast<double>(ordinals) >= kLeastShareOfOrdinals * static_cast<double>(all);
}

StopHabits StopHabitLearner::learn() const {
  StopHabits habits{.has_ordinals = has_ordinals()};
  for (const auto& [small, counted] : candidates()) {
    if (counted.followers < kLeastOccurrences || counted.stopped < kLeastOccurrences) continue;
    const double openers =
        static_cast<double>(counted.openers) / static_cast<double>(counted.followers);
    if (openers > kMostOpenersAfterAbbreviation || score(small, counted) < kLeastScore) continue;
    habits.abbreviations.push_back(small);
  }
  std::ranges::sort(habits.abbreviations);
  std::vector<std::pair<int64_t, std::string>> openers;
  for (uint32_t id = 0; id < words_.size(); ++id) {
    const bool is_common =
        words_[id].opening >= kLeastOccurrences && is_capitalised_to_open(words_[id]);
    if (is_common && begins_upper(names_[id]) && is_valid_utf8(names_[id]) && is_opener(id)) {
      openers.emplace_back(-words_[id].opening, names_[id]);
    }
  }
  std::ranges::sort(openers);
  if (openers.size() > kMostOpeners) openers.resize(kMostOpeners);
  for (auto& [count, opener] : openers) habits.openers.push_back(std::move(opener));
  std::ranges::sort(habits.openers);
  return habits;
}

}  // namespace cloze::text
