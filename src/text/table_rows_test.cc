#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::text {
namespace {

Vocabulary seven_tokens() {
  return Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "a", "[SEP]", "[MASK]", "b"});
}

std::string refusal(int64_t rows) {
  try {
    missing_rows(seven_tokens(), rows, "vocab.txt");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TableRows, RowsWithoutATokenAreFine) {
  EXPECT_FALSE(missing_rows(seven_tokens(), 7, "vocab.txt"));
  EXPECT_FALSE(missing_rows(seven_tokens(), 8, "vocab.txt"));
}

TEST(TableRows, TokensWithoutARowAreCounted) {
  EXPECT_EQ(missing_rows(seven_tokens(), 6, "vocab.txt"),
            "vocab.txt has 7 tokens, the model 6 rows: the last 1 tokens are read as [UNK]");
}

TEST(TableRows, SpecialTokensNeedARow) {
  EXPECT_EQ(refusal(5),
            "vocab.txt: [MASK] is token 5, but the model's vocab_size is 5; give the vocabulary "
            "that the model was trained with");
}

TEST(TableRows, AVocabularyOfAnotherModelIsRefused) {
  EXPECT_EQ(refusal(3),
            "vocab.txt has 7 tokens, the model's vocab_size is 3; they do not belong together: "
            "give the vocabulary that the model was trained with, or --vocab-size 7 for a new "
            "model");
}

}  // namespace
}  // namespace cloze::text
