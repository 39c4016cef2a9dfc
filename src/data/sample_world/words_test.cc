#include "data/sample_world/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace cloze::data {
namespace {

void expect_distinct_words(const std::vector<std::string_view>& words) {
  std::set<std::string_view> seen;
  for (const std::string_view word : words) {
    EXPECT_TRUE(seen.insert(word).second) << "twice: " << word;
    EXPECT_TRUE(
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c); }))
        << "not one word: " << word;
  }
}

// A blank must have one right answer, so no two crafts may share a word.
TEST(Words, CraftsShareNoWord) {
  std::vector<std::string_view> words;
  for (const Craft& craft : crafts()) {
    for (const auto word :
         {craft.maker, craft.makers, craft.material, craft.product, craft.tool, craft.worked}) {
      words.push_back(word);
    }
  }
  expect_distinct_words(words);
}

TEST(Words, AnimalsShareNoWord) {
  std::vector<std::string_view> words;
  for (const Animal& animal : animals()) {
    for (const auto word : {animal.name, animal.young, animal.sound, animal.shelter}) {
      words.push_back(word);
    }
  }
  expect_distinct_words(words);
}

TEST(Words, OppositesShareNoWord) {
  std::vector<std::string_view> words;
  for (const Opposite& pair : opposites()) {
    for (const auto word : {pair.noun, pair.one, pair.other}) words.push_back(word);
  }
  expect_distinct_words(words);
}

TEST(Words, ListsHoldDistinctWords) {
  for (const Words words : {weekdays(), numbers(), colours(), landmarks(), festivals(), dishes(),
                            crops(), beasts(), instruments(), goods(), girl_names(), boy_names()}) {
    expect_distinct_words({words.begin(), words.end()});
  }
}

}  // namespace
}  // namespace cloze::data
