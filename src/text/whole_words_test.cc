#include "text/whole_words.h"

#include <gtest/gtest.h>

namespace cloze::text {
namespace {

TEST(WholeWordsTest, HoldsWordsOfEachLengthUpToSixteenBytes) {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##abc"};
  for (size_t length = 1; length <= 20; ++length) {
    for (const char last : {'x', 'y'}) tokens.push_back(std::string(length - 1, 'a') + last);
  }
  const Vocabulary vocabulary = Vocabulary::from_tokens(tokens);
  const WholeWords words(vocabulary);
  for (const std::string& token : tokens) {
    const bool is_held = token.size() <= 16 && token != "##abc";
    EXPECT_EQ(words.find(token), is_held ? *vocabulary.find(token) : WholeWords::kNone) << token;
  }
  for (size_t length = 1; length <= 20; ++length) {
    EXPECT_EQ(words.find(std::string(length, 'a')), WholeWords::kNone) << length;
  }
}

TEST(WholeWordsTest, WordsThatDifferInOneByteAreDifferent) {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (size_t length = 1; length <= 16; ++length) tokens.push_back(std::string(length, 'a'));
  const WholeWords words(Vocabulary::from_tokens(tokens));
  for (size_t length = 1; length <= 16; ++length) {
    for (size_t i = 0; i < length; ++i) {
      std::string word(length, 'a');
      word[i] = 'b';
      EXPECT_EQ(words.find(word), WholeWords::kNone) << word;
    }
  }
}

}  // namespace
}  // namespace cloze::text
