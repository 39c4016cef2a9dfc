#include "tasks/tagging/piece_windows.h"

#include <gtest/gtest.h>

#include <numeric>

namespace cloze::tasks {
namespace {

const text::Tokenizer kTokenizer{
    text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b"}),
    {}};

using Ids = std::vector<int32_t>;

TEST(PieceWindowsTest, AShortTextIsOneSequence) {
  const auto all = piece_windows(std::vector<Ids>{{5, 6}, {}, {7}}, kTokenizer.vocabulary(), 16);
  ASSERT_EQ(all.windows.size(), 2u);
  EXPECT_EQ(all.samples[0].input_ids, (Ids{2, 5, 6, 3}));
  EXPECT_EQ(all.samples[1].input_ids, (Ids{2, 7, 3}));
  EXPECT_EQ(all.windows[1].text, 2u);
  EXPECT_EQ(all.windows[1].position_of(0), 1);
  EXPECT_EQ(all.num_cut, 0);
}

// Every piece is the business of one window, which holds it where position_of() says; at a seam it has
// an eighth of a window on each side.
TEST(PieceWindowsTest, EveryPieceOfALongTextCountsOnce) {
  for (int64_t max_length = 3; max_length < 40; ++max_length) {
    for (const size_t length : {1, 37, 38, 100}) {
      Ids text(length);
      std::iota(text.begin(), text.end(), 10);
      const auto all = piece_windows(std::vector<Ids>{text}, kTokenizer.vocabulary(), max_length);
      const auto room = static_cast<uint32_t>(max_length - 2);
      EXPECT_EQ(all.num_cut, length > room ? 1 : 0);
      uint32_t next = 0;
      for (size_t w = 0; w < all.windows.size(); ++w) {
        const PieceWindow& window = all.windows[w];
        EXPECT_LE(std::ssize(all.samples[w].input_ids), max_length);
        EXPECT_EQ(window.pieces.best_begin, next);
        next = window.pieces.best_end;
        for (uint32_t piece = window.pieces.best_begin; piece < next; ++piece) {
          const auto position = static_cast<size_t>(window.position_of(piece));
          EXPECT_EQ(all.samples[w].input_ids.at(position), text[piece]);
        }
        if (w > 0) {
          EXPECT_GE(window.pieces.best_begin - window.pieces.begin, room / 8);
        }
      }
      EXPECT_EQ(next, length);
    }
  }
}

TEST(PieceWindowsTest, EveryWordHasAPiece) {
  const std::vector<std::string> words{"ab", "\u200d", "", "b", "a."};
  const WordPieces pieces = word_pieces(words, kTokenizer);
  EXPECT_EQ(pieces.ids, (Ids{5, 7, 1, 1, 6, 5, 1}));
  EXPECT_EQ(pieces.first, (std::vector<uint32_t>{0, 2, 3, 4, 5}));
  EXPECT_EQ(pieces.num_empty, 2);
}

}  // namespace
}  // namespace cloze::tasks
