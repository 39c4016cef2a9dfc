// Records what a text has shown about its full stops: which words bear one, and which words begin
// its sentences. stop_habit_learner.h learns it; sentence_splitter.h uses it; token stores keep it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cloze::text {

// Numbers with more digits are never taken for ordinals.
inline constexpr size_t kOrdinalDigits = 2;

struct StopHabits {
  std::vector<std::string> abbreviations;  // small letters, without the last stop; sorted
  std::vector<std::string> openers;        // as they begin a sentence: "The", "Der"; sorted
  bool has_ordinals = false;  // a stop after a number makes it an ordinal: "am 3. Juli"

  bool operator==(const StopHabits&) const = default;
};

}  // namespace cloze::text
