#include "text/decoding.h"

#include <gtest/gtest.h>

#include <vector>

namespace cloze::text {
namespace {

const Vocabulary& vocabulary() {
  static const Vocabulary made = Vocabulary::from_tokens(
      {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##able", "do", "n't", "'",   "s", ".",
       "...",   "'s",    "##",    "?",     "(",      "a",  ",",      "!",  "'ve", "'re", "'m"});
  return made;
}

std::string decoded(const std::vector<int32_t>& ids, bool skips_special = false) {
  return decoded_text(ids, vocabulary(), skips_special);
}

// The expected texts are those of tokenizers 0.22: Tokenizer.decode with
// decoders.WordPiece("##", cleanup=True).
TEST(DecodingTest, PiecesAndMarksAreJoinedToWhatIsBeforeThem) {
  EXPECT_EQ(decoded({}), "");
  EXPECT_EQ(decoded({5, 6, 5, 6}), "unable unable");
  EXPECT_EQ(decoded({6, 5}), "##able un");
  EXPECT_EQ(decoded({7, 8, 16, 17, 15, 18, 19, 11}), "don't ( a?,!.");
  EXPECT_EQ(decoded({17, 9, 10, 12}), "a ' s...");
  EXPECT_EQ(decoded({17, 13, 20, 21, 22, 14, 17}), "a's've're'm a");
  EXPECT_EQ(decoded({11, 17}), ". a");
}

TEST(DecodingTest, SpecialTokensMayBeLeftOut) {
  EXPECT_EQ(decoded({2, 11, 17, 4, 1, 3, 0}), "[CLS]. a [MASK] [UNK] [SEP] [PAD]");
  EXPECT_EQ(decoded({2, 11, 17, 4, 1, 3, 0}, true), ". a");
  for (int32_t id = 0; id < vocabulary().size(); ++id) {
    EXPECT_EQ(is_special(id, vocabulary()), id < 5) << id;
  }
}

}  // namespace
}  // namespace cloze::text
