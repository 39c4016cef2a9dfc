#include "ops/span_loss.h"

#include <gtest/gtest.h>

#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

struct Positions {
  double start = 0.0, end = 0.0;
};

// loss, correct and dlogits of two sequences of two tokens; `second` holds the positions in the
// second.
std::vector<double> results_with(const Positions& second) {
  const Tensor logits = floats({4, 2}, {3, 1, 2, 5, 4, 1, 0, 2});
  const Tensor starts = integers({3}, {0, 2, 4});
  const Tensor start_positions = integers({2}, {0, second.start});
  const Tensor end_positions = integers({2}, {1, second.end});
  const Tensor one = floats({1}, {1});
  const auto losses =
      apply_in_double(ops::kSpanLoss, {}, {logits, starts, start_positions, end_positions, one});
  const auto gradients = apply_in_double(
      ops::kSpanLossGradient, {}, {one, logits, starts, start_positions, end_positions, one});
  std::vector<double> results = gradients[0].values;
  for (const Tensor& loss : losses) results.push_back(loss.values[0]);
  return results;
}

TEST(SpanLoss, IgnoresASequenceThatLacksAPosition) {
  const std::vector<double> ignored = results_with({-1, -1});
  EXPECT_EQ(ignored.back(), 1.0);  // the first is right
  EXPECT_EQ(results_with({2, -1}), ignored);
  EXPECT_EQ(results_with({-1, 3}), ignored);
  const std::vector<double> both = results_with({2, 3});
  EXPECT_EQ(both.back(), 2.0);
  for (size_t slot = 0; slot < 4; ++slot) {
    for (const size_t i : {2 * slot, 2 * slot + 1}) EXPECT_EQ(ignored[i] == 0.0, slot >= 2) << i;
    EXPECT_NE(both[2 * slot], 0.0) << slot;
  }
}

}  // namespace
}  // namespace cloze::backend::reference
