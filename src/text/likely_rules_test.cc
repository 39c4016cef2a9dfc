#include "text/likely_rules.h"

#include <gtest/gtest.h>

#include "base/data_folder_test.h"

namespace cloze::text {
namespace {

Vocabulary with(std::vector<std::string> tokens) {
  tokens.insert(tokens.begin(), {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  return Vocabulary::from_tokens(std::move(tokens));
}

TEST(LikelyRulesTest, CapitalsOfAnyScriptAreNotLowerCased) {
  for (const char* capital : {"The", "##A", "Ä", "Жук", "##Σ", "Ա"}) {
    EXPECT_FALSE(with({"the", capital}).likely_lower_cased()) << capital;
    EXPECT_EQ(likely_rules(with({"the", capital})), TokenizerOptions({.lower_case = false}))
        << capital;
  }
  EXPECT_EQ(likely_rules(with({"the", "##ing", "жук", "1", "."})), TokenizerOptions{});
  EXPECT_EQ(likely_rules(with({"<S>", "<T>", "the"})), TokenizerOptions{})
      << "Google's Chinese BERT";
}

// Scripts without capitals: only what stripping would take away tells the two apart.
TEST(LikelyRulesTest, MarksAndSyllablesAreNotStripped) {
  const TokenizerOptions keeps{.lower_case = true, .strip_accents = false};
  for (const char* token :
       {"é", "##à", "हिन्दी", "ที่", "##ُ", "বাংলাঁ", "ខ្មែរ", "한국", "が", "việt"}) {
    EXPECT_EQ(likely_rules(with({"a", token})), keeps) << token;
  }
  EXPECT_EQ(likely_rules(with({"a", "कमल", "กา", "日", "か", "ا"})), TokenizerOptions{});
}

TEST(LikelyRulesTest, PublishedVocabularies) {
  const DataFolder data({"vocab/bert-base-uncased-vocab.txt", "vocab/bert-base-cased-vocab.txt"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  EXPECT_EQ(likely_rules(Vocabulary::load(data / "vocab/bert-base-uncased-vocab.txt")),
            TokenizerOptions{});
  EXPECT_EQ(likely_rules(Vocabulary::load(data / "vocab/bert-base-cased-vocab.txt")),
            TokenizerOptions({.lower_case = false}));
}

}  // namespace
}  // namespace cloze::text
