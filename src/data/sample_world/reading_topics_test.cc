#include "data/sample_world/reading_topics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "data/sample_world/grammar.h"

namespace cloze::data {
namespace {

template <typename Check>
void for_each_topic(Check check) {
  for (int kind = 0; kind < kNumSubjectKinds; ++kind) {
    for (const ReadingTopic& topic : reading_topics(static_cast<SubjectKind>(kind))) check(topic);
  }
}

Sentence expand(std::string_view source, const Slots& slots) {
  PhiloxStream stream(1, 0);
  const auto sentences = expand_template(source, slots, stream);
  EXPECT_EQ(sentences.size(), 1u) << source;
  return sentences.front();
}

TEST(ReadingTopics, StatementsHoldSubjectAndOneAnswer) {
  for_each_topic([](const ReadingTopic& topic) {
    EXPECT_GE(topic.statements.size(), 3u) << topic.name;
    for (const std::string_view source : topic.statements) {
      const Sentence sentence = expand(source, {{"subject", "Qqq"}, {"answer", "Zzz"}});
      ASSERT_EQ(sentence.blanks.size(), 1u) << source;
      EXPECT_EQ(sentence.text.substr(sentence.blanks[0].begin, sentence.blanks[0].size), "Zzz");
      EXPECT_NE(sentence.text.find("Qqq"), std::string::npos) << source;
      EXPECT_TRUE(sentence.text.ends_with('.')) << source;
    }
  });
}

TEST(ReadingTopics, QuestionsHoldTheSubjectAndNoAnswer) {
  for_each_topic([](const ReadingTopic& topic) {
    EXPECT_GE(topic.questions.size(), 3u) << topic.name;
    for (const std::string_view source : topic.questions) {
      const Sentence sentence = expand(source, {{"subject", "Qqq"}});
      EXPECT_TRUE(sentence.blanks.empty()) << source;
      EXPECT_NE(sentence.text.find("Qqq"), std::string::npos) << source;
      EXPECT_TRUE(sentence.text.ends_with('?')) << source;
    }
  });
}

TEST(ReadingTopics, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names, titles;
  size_t num_topics = 0;
  for_each_topic([&](const ReadingTopic& topic) {
    names.insert(topic.name);
    ++num_topics;
  });
  EXPECT_EQ(names.size(), num_topics);
  for (int kind = 0; kind < kNumSubjectKinds; ++kind) {
    titles.insert(title_of(static_cast<SubjectKind>(kind)));
  }
  EXPECT_EQ(titles.size(), size_t{kNumSubjectKinds});
}

}  // namespace
}  // namespace cloze::data
