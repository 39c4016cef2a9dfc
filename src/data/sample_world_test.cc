#include "data/sample_world.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr int64_t kNumDocuments = 3000;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string filled(const ClozeItem& item) {
  std::string text = item.text;
  return text.replace(text.find("[MASK]"), 6, item.answer);
}

TEST(SampleWorld, DocumentsAreAFunctionOfSeedAndIndex) {
  const SampleWorld world(1), same(1), other(2);
  EXPECT_EQ(world.document(17), same.document(17));
  EXPECT_NE(world.document(17), other.document(17));
  EXPECT_NE(world.document(17), world.document(18));
}

TEST(SampleWorld, DocumentsHaveAnAgreeableLength) {
  const SampleWorld world(1);
  for (int64_t i = 0; i < 500; ++i) {
    const auto sentences = world.document(i);
    EXPECT_GE(sentences.size(), 6u) << i;
    EXPECT_LE(sentences.size(), 26u) << i;
    EXPECT_EQ(std::unordered_set<std::string>(sentences.begin(), sentences.end()).size(),
              sentences.size());
  }
}

// Wherever a document says which province a town is in, it is the town's own.
TEST(SampleWorld, DocumentsStateTheFactsOfTheWorld) {
  const SampleWorld world(4);
  std::map<std::string, std::string> province_of;
  for (const Town& town : world.facts().towns) {
    province_of[town.name] = world.facts().provinces[town.province].name;
  }
  int num_statements = 0;
  for (int64_t i = 0; i < 500; ++i) {
    for (const std::string& sentence : world.document(i)) {
      const std::string verb = " belongs to the province of ";
      const size_t at = sentence.find(verb);
      if (at == std::string::npos) continue;
      ++num_statements;
      const std::string stated = sentence.substr(at + verb.size());
      EXPECT_TRUE(stated.starts_with(province_of.at(sentence.substr(0, at)))) << sentence;
    }
  }
  EXPECT_GT(num_statements, 30);
}

class ClozeItems : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (int64_t i = 0; i < kNumDocuments; ++i) {
      for (const std::string& sentence : world_.document(i)) {
        sentences_.insert(sentence);
        count_words(sentence);
      }
    }
    items_ = world_.cloze_items(500);
  }

  static void count_words(std::string_view sentence) {
    std::string word;
    for (const char c : sentence) {
      if (std::isalnum(static_cast<unsigned char>(c))) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      } else if (!word.empty()) {
        ++word_counts_[word];
        word.clear();
      }
    }
  }

  inline static const SampleWorld world_{42};
  inline static std::unordered_set<std::string> sentences_;
  inline static std::unordered_map<std::string, int> word_counts_;
  inline static std::vector<ClozeItem> items_;
};

TEST_F(ClozeItems, AreNeverInTheDocuments) {
  for (const ClozeItem& item : items_) {
    EXPECT_FALSE(sentences_.contains(filled(item))) << filled(item);
    EXPECT_TRUE(world_.is_held_out(filled(item)));
  }
}

TEST_F(ClozeItems, HaveOneBlankAndDiffer) {
  std::set<std::string> texts;
  for (const ClozeItem& item : items_) {
    EXPECT_EQ(item.text.find("[MASK]"), item.text.rfind("[MASK]")) << item.text;
    EXPECT_TRUE(texts.insert(item.text).second) << item.text;
  }
  EXPECT_EQ(texts.size(), 500u);
}

TEST_F(ClozeItems, NoAnswerIsOverATwentieth) {
  std::map<std::string, int> uses;
  for (const ClozeItem& item : items_) ++uses[lower(item.answer)];
  for (const auto& [answer, count] : uses) EXPECT_LE(count, 25) << answer;
  EXPECT_GT(uses.size(), 200u);
}

TEST_F(ClozeItems, AnswersAreFrequentWords) {
  EXPECT_LT(word_counts_.size(), 2500u) << "too many words for a small vocabulary";
  for (const ClozeItem& item : items_) {
    EXPECT_GE(word_counts_[lower(item.answer)], 15) << item.answer << " in " << item.text;
  }
}

TEST_F(ClozeItems, StoriesHoldTheirAnswerInTheContext) {
  int num_stories = 0;
  for (const ClozeItem& item : items_) {
    if (item.kind != "story") continue;
    ++num_stories;
    EXPECT_NE(item.context.find(item.answer), std::string::npos) << item.context << item.text;
  }
  EXPECT_GT(num_stories, 10);
}

TEST_F(ClozeItems, OfEveryKind) {
  std::map<std::string_view, int> counts;
  for (const ClozeItem& item : items_) ++counts[item.kind];
  EXPECT_EQ(counts.size(), 6u);
}

TEST(SampleWorld, GivesAnyNumberOfItemsUpToItsBound) {
  const SampleWorld world(1);
  EXPECT_TRUE(world.cloze_items(0).empty());
  EXPECT_EQ(world.cloze_items(3).size(), 3u);
  EXPECT_EQ(world.cloze_items(kMaxClozeItems).size(), size_t{kMaxClozeItems});
  EXPECT_THROW(world.cloze_items(-1), UserError);
  EXPECT_THROW(world.cloze_items(kMaxClozeItems + 1), UserError);
}

}  // namespace
}  // namespace cloze::data
