// Learns from the beginning of a corpus how it uses full stops (text/stop_habits.h): from its first
// 8 MiB, in the order of its files, so that it does not depend on threads, on interruptions, or on
// text that is added at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/text_source.h"
#include "text/stop_habit_learner.h"

namespace cloze::data {

class HabitLearning {
 public:
  static constexpr int64_t kBytes = 8 << 20;

  // Ignores paragraphs after the first 8 MiB.
  void add(std::string_view paragraph);
  bool is_done() const { return bytes_left_ <= 0; }
  text::StopHabits learn() const { return learner_.learn(); }

 private:
  text::StopHabitLearner learner_;
  int64_t bytes_left_ = kBytes;
};

// Learns nothing from text that is not split. DataError that names file, line and column of bad
// text.
text::StopHabits learned_habits(const std::vector<TextSource>& sources);

// The same, and tells `progress` about them.
text::StopHabits told_habits(const std::vector<TextSource>& sources,
                             const CreationProgress& progress);

// "3 abbreviations learned from the text: ca, jr, syn; ..."; empty when there
// are neither abbreviations nor ordinals.
std::string describe_habits(const text::StopHabits& habits);

}  // namespace cloze::data
