#include "data/corpus/learned_habits.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "platform/signals.h"

namespace cloze::data {
namespace {

constexpr size_t kShownAbbreviations = 20;
constexpr size_t kPieceBytes = 256 << 10;

// Learns from one piece of a text, as split_into_blocks() makes them.
void learn_from(std::string_view piece, const TextForm& form, HabitLearning& learning) {
  visit_paragraphs(piece, form,
                   {.paragraph = [&](std::string_view paragraph) { learning.add(paragraph); }});
}

}  // namespace

void HabitLearning::add(std::string_view paragraph) {
  if (is_done()) return;
  bytes_left_ -= std::ssize(paragraph);
  learner_.add(paragraph);
}

text::StopHabits learned_habits(const std::vector<TextSource>& sources) {
  HabitLearning learning;
  for (const TextSource& source : sources) {
    if (!is_split(source.format())) continue;
    for (const auto piece : split_into_blocks(source.text(), kPieceBytes, source.format())) {
      if (learning.is_done()) return learning.learn();
      platform::stop_if_requested();
      try {
        learn_from(piece, source.form(), learning);
      } catch (const BadText& bad) {
        bad.rethrow_if_in(source.text(), source.path());
        throw;
      }
    }
  }
  return learning.learn();
}

text::StopHabits told_habits(const std::vector<TextSource>& sources,
                             const CreationProgress& progress) {
  text::StopHabits habits = learned_habits(sources);
  if (const std::string text = describe_habits(habits); !text.empty()) progress.notice(text);
  return habits;
}

std::string describe_habits(const text::StopHabits& habits) {
  const auto& words = habits.abbreviations;
  std::string text;
  if (!words.empty()) {
    const size_t shown = std::min(words.size(), kShownAbbreviations);
    text =
        fmt::format("{} abbreviation{} learned from the text: {}", words.size(),
                    words.size() == 1 ? "" : "s", fmt::join(std::span(words).first(shown), ", "));
    if (words.size() > shown) text += ", ...";
  }
  if (habits.has_ordinals) {
    text += text.empty() ? "" : "; ";
    text += "a full stop after a number makes it an ordinal here";
  }
  return text;
}

}  // namespace cloze::data
