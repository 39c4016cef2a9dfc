#include "data/sample_world/world_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "data/sample_world/facts.h"
#include "data/sample_world/grammar.h"
#include "data/sample_world/scene.h"

namespace cloze::data {
namespace {

void expect_distinct_words(const Words& list) {
  std::set<std::string> seen;
  for (const std::string& word : list) {
    EXPECT_TRUE(seen.insert(word).second) << "twice: " << word;
    EXPECT_TRUE(
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c); }))
        << "not one word: " << word;
  }
}

// A blank must have one right answer, so no two crafts, animals or opposites may share a word.
TEST(WorldData, RowsShareNoWord) {
  for (const char* table : {"crafts", "animals", "opposites"}) {
    Words all;
    for (const Row& row : rows(table)) {
      for (const auto& [column, word] : row) all.push_back(word);
    }
    EXPECT_GE(all.size(), 48u) << table;
    expect_distinct_words(all);
  }
}

TEST(WorldData, ListsHoldDistinctWords) {
  for (const char* list :
       {"weekdays", "numbers", "colours", "landmarks", "festivals", "dishes", "crops", "beasts",
        "instruments", "goods", "girl_names", "boy_names", "village_prefixes", "town_names",
        "province_names", "river_names", "sea_names", "mountain_names", "surnames"}) {
    EXPECT_GE(words(list).size(), 7u) << list;
    expect_distinct_words(words(list));
  }
}

TEST(WorldData, ListsAreWhatTheFileSays) {
  EXPECT_EQ(words("weekdays").front(), "Monday");
  EXPECT_EQ(words("crafts.product").front(), "bowls");
  EXPECT_EQ(words("town_names")[1], "Brambury");
  EXPECT_EQ(rows("months")[11].at("season"), "winter");
  EXPECT_THROW(words("colors"), InternalError);
  EXPECT_THROW(rows("colours"), InternalError);
}

std::set<const Topic*> topics_of_documents() {
  std::set<const Topic*> topics;
  for (const DocumentPlan& plan : document_plans()) {
    for (const auto* part : {&plan.opening, &plan.body, &plan.ending}) {
      topics.insert(part->begin(), part->end());
    }
  }
  return topics;
}

// Unknown slots throw; a sentence ends in a mark and holds no remains of a template.
TEST(WorldData, EveryTemplateExpandsToSentences) {
  const SampleFacts facts = draw_sample_facts(1);
  for (const Topic* topic : topics_of_documents()) {
    for (const std::string_view source : *topic) {
      PhiloxStream stream(1, 0);
      const Scene scene(facts, stream);
      for (const Sentence& sentence : expand_template(source, scene.slots(), stream)) {
        EXPECT_EQ(sentence.text.find_first_of("{}<>()|*"), std::string::npos) << sentence.text;
        EXPECT_EQ(sentence.text.find("  "), std::string::npos) << sentence.text;
        EXPECT_NE(std::string(".?!").find(sentence.text.back()), std::string::npos)
            << sentence.text;
      }
    }
  }
}

// What a cloze item asks must have been told: its topic stands in some kind of document. Held-out
// sentences can be said otherwise only when a topic knows several ways.
TEST(WorldData, ClozeTopicsAreToldInSeveralWays) {
  const auto told = topics_of_documents();
  uint32_t percent = 0;
  for (const ClozeKind& kind : cloze_kinds()) {
    percent += kind.percent;
    for (const Topic* topic : kind.topics) {
      EXPECT_TRUE(told.contains(topic)) << kind.name;
      EXPECT_GE(topic->size(), 4u) << kind.name;
    }
  }
  EXPECT_EQ(percent, 100u);
}

template <typename Check>
void for_each_topic(Check check) {
  for (const SubjectKind& kind : subject_kinds()) {
    for (const ReadingTopic& topic : kind.topics) check(topic);
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
  for (const SubjectKind& kind : subject_kinds()) titles.insert(kind.title);
  EXPECT_EQ(titles.size(), subject_kinds().size());
}

}  // namespace
}  // namespace cloze::data
