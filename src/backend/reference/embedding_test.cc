#include "ops/embedding.h"

#include <gtest/gtest.h>

#include "backend/testing/run_kernel.h"
#include "ops/gather_rows.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

const Tensor kInputIds = integers({3}, {2, 0, 2});
const Tensor kTypeIds = integers({3}, {0, 1, 0});
const Tensor kPositionIds = integers({3}, {0, 1, 1});

TEST(Embedding, SumOfThreeRows) {
  const Tensor word = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor token_type = floats({2, 2}, {10, 20, 30, 40});
  const Tensor position = floats({2, 2}, {100, 200, 300, 400});
  const auto y = apply_in_double(
      ops::kEmbedding, ops::EmbeddingAttributes{},
      {kInputIds, kTypeIds, kPositionIds, word, token_type, position, integers({2}, {0, 3})})[0];
  EXPECT_EQ(y.values, (std::vector<double>{115, 226, 331, 442, 315, 426}));
}

TEST(Embedding, GradientLeavesUnusedSlotsOut) {
  const Tensor dy = floats({3, 1}, {1, 2, 4});
  const auto gradients = [&](double used) {
    return apply_in_double(
        ops::kEmbeddingGradient,
        ops::EmbeddingGradientAttributes{.vocabulary = 3, .types = 2, .positions = 2},
        {dy, kInputIds, kTypeIds, kPositionIds, integers({2}, {0, used})});
  };
  const auto all = gradients(3);
  EXPECT_EQ(all[0].values, (std::vector<double>{2, 0, 5}));
  EXPECT_EQ(all[1].values, (std::vector<double>{5, 2}));
  EXPECT_EQ(all[2].values, (std::vector<double>{1, 6}));
  EXPECT_EQ(gradients(2)[0].values, (std::vector<double>{2, 0, 1}));
}

TEST(GatherRows, PicksAndScattersBack) {
  const Tensor index = integers({3}, {1, 1, 0});
  const auto y = apply_in_double(ops::kGatherRows, {}, {floats({2, 2}, {1, 2, 3, 4}), index})[0];
  EXPECT_EQ(y.values, (std::vector<double>{3, 4, 3, 4, 1, 2}));
  const auto dx = apply_in_double(ops::kScatterRows, ops::ScatterRowsAttributes{3},
                                  {floats({3, 2}, {1, 2, 10, 20, 100, 200}), index})[0];
  EXPECT_EQ(dx.values, (std::vector<double>{100, 200, 11, 22, 0, 0}));
}

}  // namespace
}  // namespace cloze::backend::reference
