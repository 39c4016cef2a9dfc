#include "text/stop_habit_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace cloze::text {
namespace {

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

StopHabits learned_from(std::initializer_list<std::string_view> paragraphs, int times = 1) {
  StopHabitLearner learner;
  for (int i = 0; i < times; ++i) {
    for (const std::string_view paragraph : paragraphs) learner.add(paragraph);
  }
  return learner.learn();
}

// "Abt." stands before nouns, which German writes with capitals; the other words end sentences too.
TEST(StopHabitLearnerTest, GermanAbbreviationsOpenersAndOrdinals) {
  const StopHabits habits = learned_from(
      {"Die Abt. Einkauf liegt im 3. Stock. Der Mann kennt die Abt. Verkauf. Das weiß der Mann.",
       "Im 2. Stock ist das Lager, sagt die Abt. Versand. Die Frau kennt das Lager. Der Rest ist "
       "im "
       "1. Stock, und das ist gut."},
      4);
  EXPECT_EQ(habits.abbreviations, std::vector<std::string>{"abt"});
  EXPECT_TRUE(has(habits.openers, "Der") && has(habits.openers, "Das"));
  EXPECT_FALSE(has(habits.openers, "Einkauf") || has(habits.openers, "Stock"));
  EXPECT_TRUE(habits.has_ordinals);
}

TEST(StopHabitLearnerTest, WordsThatOnlyEndSentencesAreNoAbbreviations) {
  const StopHabits habits = learned_from(
      {"We saw the cat. The dog saw a hut in room 12. The man went there. A cat saw the dog, and a "
       "man saw the hut. We went.",
       "In the hut, we saw room 12. The cat went in. We slept."},
      20);
  EXPECT_TRUE(habits.abbreviations.empty()) << habits.abbreviations[0];
  EXPECT_FALSE(habits.has_ordinals);
  EXPECT_TRUE(has(habits.openers, "The"));
}

// In lists each number begins its line.
TEST(StopHabitLearnerTest, NumbersOfAListAreNoOrdinals) {
  EXPECT_FALSE(learned_from({"1. Milk", "2. Bread", "3. Soap"}, 20).has_ordinals);
}

TEST(StopHabitLearnerTest, ScriptsWithoutCaseTeachNothing) {
  EXPECT_EQ(learned_from({"그는 갔다. 그는 왔다. 곳. 그는 갔다."}, 50), StopHabits());
  EXPECT_EQ(learned_from({""}), StopHabits());
  EXPECT_EQ(learned_from({"\xFF\xFE. A\xFF. B \xC3. C\xE2\x80"}, 9).abbreviations.size(), 0u);
}

}  // namespace
}  // namespace cloze::text
