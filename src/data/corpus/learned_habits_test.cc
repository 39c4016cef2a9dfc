#include "data/corpus/learned_habits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cloze::data {
namespace {

// Written as a file of its own for each test.
class LearnedHabitsTest : public testing::Test {
 protected:
  LearnedHabitsTest() { std::filesystem::create_directories(folder_); }
  ~LearnedHabitsTest() override { std::filesystem::remove_all(folder_); }

  std::vector<TextSource> sources(const std::vector<std::string>& texts, TextFormat format) {
    std::vector<std::filesystem::path> files;
    for (const std::string& text : texts) {
      files.push_back(folder_ / std::to_string(files.size()));
      std::ofstream(files.back()) << text;
    }
    return open_text_sources(files, {.form = {.format = format}}, progress_);
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "cloze_learned_habits_test";
  CreationProgress progress_;
};

const std::string kGerman =
    "Die Abt. Einkauf ist gut. Der Mann kennt die Abt. Verkauf. Das weiß der Mann in der Abt. "
    "Versand, und das ist gut.\n";

std::string repeated(const std::string& text, size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += text;
  return all;
}

TEST_F(LearnedHabitsTest, AllFilesCountUpToALimit) {
  const std::string some = repeated(kGerman, 300);
  const text::StopHabits both = learned_habits(
      sources({some, repeated("Der kommt. Das geht.\n", 100)}, TextFormat::kParagraphs));
  EXPECT_EQ(both.abbreviations, std::vector<std::string>{"abt"});

  const std::string filler = repeated("the cat saw the dog\n", HabitLearning::kBytes * 6 / 5);
  EXPECT_EQ(learned_habits(sources({filler, some}, TextFormat::kParagraphs)), text::StopHabits())
      << "text after the limit";
}

TEST_F(LearnedHabitsTest, SentencesTeachNothing) {
  EXPECT_EQ(learned_habits(sources({repeated(kGerman, 300)}, TextFormat::kSentences)),
            text::StopHabits());
}

TEST_F(LearnedHabitsTest, WhatIsLearnedIsSaid) {
  EXPECT_EQ(describe_habits({}), "");
  EXPECT_EQ(describe_habits({.abbreviations = {"abt"}, .openers = {"Der"}}),
            "1 abbreviation learned from the text: abt");
  EXPECT_EQ(describe_habits({.abbreviations = {"abt", "str"}, .has_ordinals = true}),
            "2 abbreviations learned from the text: abt, str; a full stop after a number makes it "
            "an ordinal here");
  EXPECT_EQ(describe_habits({.abbreviations = std::vector<std::string>(21, "x")}).substr(0, 46),
            "21 abbreviations learned from the text: x, x, ");
  EXPECT_TRUE(
      describe_habits({.abbreviations = std::vector<std::string>(21, "x")}).ends_with("x, ..."));
}

}  // namespace
}  // namespace cloze::data
