#include "text/letter_count.h"

#include <gtest/gtest.h>

#include <string>

#include "text/tokenizer.h"

namespace cloze::text {
namespace {

Tokenizer tokenizer(std::vector<std::string> words) {
  words.insert(words.begin(), {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  for (const char* letter : {"a", "b", "c", "d", "1", "9", "\u0436", "\u0438"}) {
    words.emplace_back(letter);
    words.push_back(std::string("##") + letter);
  }
  return {Vocabulary::from_tokens(std::move(words)), {}};
}

double share(const Tokenizer& cut, std::string_view text) {
  LetterCount count(cut.vocabulary());
  std::vector<int32_t> ids;
  cut.append_ids(text, ids);
  count.add(ids);
  return count.share();
}

TEST(LetterCountTest, SingleLettersOfLongWords) {
  const Tokenizer cut = tokenizer({"abcd", "ab", "##cd"});
  EXPECT_EQ(share(cut, ""), 0);
  EXPECT_EQ(share(cut, "abcd a b abcd"), 0);
  EXPECT_EQ(share(cut, "dcba"), 1) << "d c b a";
  EXPECT_EQ(share(cut, "cba"), 0) << "short";
  EXPECT_EQ(share(cut, "abdd"), 2.0 / 3) << "ab d d";
  EXPECT_EQ(share(cut, "\u0436\u0438\u0436\u0438 ab"), 0.8) << "letters, not bytes";
  EXPECT_EQ(share(cut, "1919 9d9d9"), 0) << "numbers fall apart in any vocabulary";
  EXPECT_EQ(share(cut, "zzzz dcba"), 0.8) << "[UNK] is a token";
  EXPECT_EQ(share(cut, "dcabcd"), 4.0 / 5) << "d c a b cd";
}

TEST(LetterCountTest, AVocabularyOfCharactersCutsAllWordsSo) {
  EXPECT_EQ(share(tokenizer({}), "dcba"), 0);
}

}  // namespace
}  // namespace cloze::text
