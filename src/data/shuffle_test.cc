#include "data/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cloze::data {
namespace {

std::vector<uint64_t> order(uint64_t size, uint64_t seed, uint64_t epoch) {
  const Permutation permutation(size, seed, epoch);
  std::vector<uint64_t> result;
  for (uint64_t i = 0; i < size; ++i) result.push_back(permutation(i));
  return result;
}

TEST(PermutationTest, EveryIndexOnce) {
  for (uint64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 100, 1000, 4097}) {
    for (uint64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<uint64_t> seen = order(size, 42, epoch);
      std::sort(seen.begin(), seen.end());
      for (uint64_t i = 0; i < size; ++i) ASSERT_EQ(seen[i], i) << "size " << size;
    }
  }
}

TEST(PermutationTest, SeedAndEpochChangeTheOrderAndNothingElseDoes) {
  EXPECT_EQ(order(100, 1, 0), order(100, 1, 0));
  EXPECT_NE(order(100, 1, 0), order(100, 2, 0));
  EXPECT_NE(order(100, 1, 0), order(100, 1, 1));
  EXPECT_NE(order(100, 1, 1), order(100, uint64_t{1} << 32, 1));
}

// Over many seeds every index lands in every tenth about equally often, and neighbours part.
TEST(PermutationTest, LooksRandom) {
  constexpr uint64_t kSize = 1000;
  constexpr int kSeeds = 400;
  std::vector<int> tenths(10);
  int neighbours = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Permutation permutation(kSize, seed, 5);
    ++tenths[permutation(17) / 100];
    const uint64_t a = permutation(500), b = permutation(501);
    neighbours += (a > b ? a - b : b - a) < 100 ? 1 : 0;
  }
  // Binomial(400, 0.1): standard deviation 6. Binomial(400, 0.19): 7.8.
  for (int count : tenths) EXPECT_NEAR(count, 40, 30);
  EXPECT_NEAR(neighbours, 76, 40);
}

TEST(PermutationTest, LargeSizesNeedNoMemory) {
  const Permutation permutation(uint64_t{1} << 40, 3, 0);
  EXPECT_NE(permutation(123456789012), permutation(123456789013));
}

}  // namespace
}  // namespace cloze::data
