#include "tasks/tagging/entity_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace cloze::tasks {
namespace {

using enum EntityReading;

// Of tags with blanks between them.
std::vector<std::string_view> tags_of(std::string_view text) {
  std::vector<std::string_view> tags;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    tags.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tags;
}

// "PER 0-1, LOC 3-3".
std::string entities_text(std::string_view tags, EntityReading reading) {
  std::ostringstream text;
  const char* between = "";
  for (const Entity& one : entities_of(tags_of(tags), reading)) {
    text << std::exchange(between, ", ") << one.type << ' ' << one.first << '-' << one.last;
  }
  return text.str();
}

TEST(EntityScoresTest, LenientEntities) {
  EXPECT_EQ(entities_text("B-PER I-PER O B-LOC", kLenient), "PER 0-1, LOC 3-3");
  EXPECT_EQ(entities_text("I-PER I-PER I-LOC B-LOC", kLenient), "PER 0-1, LOC 2-2, LOC 3-3");
  EXPECT_EQ(entities_text("S-A S-A B-A E-A E-A", kLenient), "A 0-0, A 1-1, A 2-3, A 4-4");
  EXPECT_EQ(entities_text("B I O I", kLenient), "_ 0-1, _ 3-3");
  EXPECT_EQ(entities_text("O B-a-b I-a-b", kLenient), "a-b 1-2");
  EXPECT_EQ(entities_text("O O", kLenient), "");
  EXPECT_EQ(entities_text("", kLenient), "");
}

TEST(EntityScoresTest, StrictEntities) {
  EXPECT_EQ(entities_text("I-A B-A I-A I-B B-A", kIob2), "A 1-2, A 4-4");
  EXPECT_EQ(entities_text("I-A I-A B-A I-B I-B", kIob1), "A 0-1, A 2-2, B 3-4");
  EXPECT_EQ(entities_text("I-A E-A I-A O", kIoe1), "A 0-1, A 2-2");
  EXPECT_EQ(entities_text("I-A E-A I-A O", kIoe2), "A 0-1");
  EXPECT_EQ(entities_text("B-A I-A E-A S-B B-A O E-A", kIobes), "A 0-2, B 3-3");
  EXPECT_EQ(entities_text("B-A I-A L-A U-B B-A O L-A", kBilou), "A 0-2, B 3-3");
}

TEST(EntityScoresTest, StrictTagsAreOfTheScheme) {
  try {
    entities_of(tags_of("B-A E-A"), kIob2);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "tag 'E-A' is none of IOB2: its tags begin with one of the letters IOB");
  }
  const std::vector<std::string_view> empty{"O", ""};
  EXPECT_THROW(entities_of(empty, kLenient), DataError);
}

// The figures of seqeval 1.2.2.
TEST(EntityScoresTest, KnownFigures) {
  const std::vector<TaggedSentence> sentences{
      {tags_of("O O O B-MISC I-MISC I-MISC O"), tags_of("O O B-MISC I-MISC I-MISC I-MISC O")},
      {tags_of("B-PER I-PER O"), tags_of("B-PER I-PER O")},
      {tags_of("B-LOC O B-PER"), tags_of("O O I-PER")}};
  const EntityScores lenient = score_entities(sentences, kLenient);
  EXPECT_NEAR(lenient.accuracy, 9.0 / 13, 1e-12);
  EXPECT_NEAR(lenient.means.micro.precision, 2.0 / 3, 1e-12);
  EXPECT_NEAR(lenient.means.micro.recall, 0.5, 1e-12);
  EXPECT_NEAR(lenient.means.micro.f1, 4.0 / 7, 1e-12);
  EXPECT_NEAR(lenient.means.macro.f1, 1.0 / 3, 1e-12);
  EXPECT_NEAR(lenient.means.weighted.f1, 0.5, 1e-12);
  EXPECT_EQ(lenient.means.weighted.support, 4);
  ASSERT_EQ(lenient.types.size(), 3u);
  EXPECT_EQ(lenient.types.at("PER").support, 2);
  EXPECT_NEAR(lenient.types.at("PER").f1, 1.0, 1e-12);
  EXPECT_NEAR(lenient.types.at("LOC").f1, 0.0, 1e-12);

  const EntityScores strict = score_entities(sentences, kIob2);
  EXPECT_NEAR(strict.types.at("PER").recall, 0.5, 1e-12);
  EXPECT_NEAR(strict.means.micro.f1, 2.0 / 6, 1e-12);
}

TEST(EntityScoresTest, NothingScoresNothing) {
  EXPECT_EQ(score_entities({}, kLenient).accuracy, 0.0);
  const std::vector<TaggedSentence> outside{{tags_of("O O"), tags_of("O O")}};
  const EntityScores scores = score_entities(outside, kIob2);
  EXPECT_EQ(scores.accuracy, 1.0);
  EXPECT_EQ(scores.means.micro.f1, 0.0);
  EXPECT_TRUE(scores.types.empty());
}

TEST(EntityScoresTest, Json) {
  const std::vector<TaggedSentence> sentences{{tags_of("B-A O"), tags_of("B-A O")}};
  const formats::Json json = entity_scores_json(score_entities(sentences, kLenient));
  EXPECT_EQ(json.at("types").at("A").dump(),
            R"({"precision":1.0,"recall":1.0,"f1":1.0,"support":1})");
  EXPECT_EQ(json.at("micro"), json.at("weighted"));
}

}  // namespace
}  // namespace cloze::tasks
