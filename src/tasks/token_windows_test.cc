#include "tasks/token_windows.h"

#include <gtest/gtest.h>

#include <random>

namespace cloze::tasks {
namespace {

TEST(TokenWindowsTest, OneWindowHoldsAShortText) {
  EXPECT_TRUE(token_windows(0, {.room = 4, .step = 2}).empty());
  EXPECT_EQ(token_windows(4, {.room = 4, .step = 2}), (std::vector<TokenWindow>{{0, 4, 0, 4}}));
}

// 10 tokens, windows [0,6) [3,9) [6,10). Nearest borders: 0 1 2 2 1 0 | 0 1 2 2 1 0 | 0 1 1 0;
// the third window is shorter, so equal borders go to the others.
TEST(TokenWindowsTest, TheBestWindowHasMostContextOnBothSides) {
  EXPECT_EQ(token_windows(10, {.room = 6, .step = 3}),
            (std::vector<TokenWindow>{{0, 6, 0, 5}, {3, 9, 5, 8}, {6, 10, 8, 10}}));
}

TEST(TokenWindowsTest, WindowsStopWhenTheEndIsReached) {
  EXPECT_EQ(token_windows(7, {.room = 6, .step = 6}),
            (std::vector<TokenWindow>{{0, 6, 0, 6}, {6, 7, 6, 7}}));
  EXPECT_EQ(token_windows(6, {.room = 5, .step = 1}).size(), 2u);
}

// The definition, token by token, over all windows; every token belongs to one range.
TEST(TokenWindowsTest, BestRangesEqualTheDefinition) {
  std::mt19937 draw(1);
  for (int round = 0; round < 300; ++round) {
    const auto room = static_cast<uint32_t>(1 + draw() % 150);
    const TokenWindowRule rule{.room = room, .step = 1 + static_cast<uint32_t>(draw() % room)};
    const auto windows = token_windows(static_cast<uint32_t>(1 + draw() % 600), rule);
    for (uint32_t token = 0; token < windows.back().end; ++token) {
      int64_t best = -1;
      size_t owner = 0;
      for (size_t i = 0; i < windows.size(); ++i) {
        const auto [begin, end, best_begin, best_end] = windows[i];
        if (token < begin || token >= end) continue;
        const int64_t score = 100 * std::min(token - begin, end - 1 - token) + (end - begin);
        if (score > best) {
          best = score;
          owner = i;
        }
      }
      for (size_t i = 0; i < windows.size(); ++i) {
        ASSERT_EQ(token >= windows[i].best_begin && token < windows[i].best_end, i == owner)
            << "room " << rule.room << " step " << rule.step << " token " << token;
      }
    }
  }
}

}  // namespace
}  // namespace cloze::tasks
