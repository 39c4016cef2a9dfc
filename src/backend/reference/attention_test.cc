#include "ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/testing/run_kernel.h"
#include "base/error.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

std::vector<Tensor> attend(const std::vector<Tensor>& qkv, const std::vector<double>& starts,
                           const std::vector<double>& sample_ids, double rate) {
  const ops::AttentionAttributes attributes{.num_heads = 1, .rate = rate, .site = 3};
  return apply_in_double(
      ops::kAttention, attributes,
      {qkv[0], qkv[1], qkv[2], integers({static_cast<int64_t>(starts.size())}, starts),
       integers({static_cast<int64_t>(sample_ids.size())}, sample_ids), integers({2}, {1.0, 2.0})});
}

TEST(Attention, StaysWithinSequences) {
  const Tensor zero = floats({4, 1}, {0, 0, 0, 0});
  const Tensor v = floats({4, 1}, {1, 3, 8, 5});
  const auto outputs = attend({zero, zero, v}, {0, 2, 2, 3}, {0, 0, 1, 1}, 0.0);
  EXPECT_EQ(outputs[0].values, (std::vector<double>{2, 2, 8, 0}));
  EXPECT_DOUBLE_EQ(outputs[1].values[0], std::log(2.0));
  EXPECT_DOUBLE_EQ(outputs[1].values[2], 0.0);
}

TEST(Attention, ScoresAreScaledByTheRootOfTheHeadSize) {
  const Tensor q = floats({2, 4}, {2, 0, 0, 0, 0, 0, 0, 0});
  const Tensor k = floats({2, 4}, {3, 0, 0, 0, 1, 0, 0, 0});
  const auto outputs = attend({q, k, k}, {0, 2}, {0, 0}, 0.0);
  const double first = std::exp(3.0) / (std::exp(3.0) + std::exp(1.0));
  EXPECT_DOUBLE_EQ(outputs[0].values[0], 3.0 * first + (1.0 - first));
  EXPECT_DOUBLE_EQ(outputs[1].values[0], std::log(std::exp(3.0) + std::exp(1.0)));
}

// The same sequence after another one, and alone: the same context, dropout included.
TEST(Attention, DoesNotDependOnPacking) {
  const Tensor alone = floats({3, 2}, {1, 2, 3, -1, 0.5, 0.25});
  const Tensor packed = floats({5, 2}, {7, 7, -7, 7, 1, 2, 3, -1, 0.5, 0.25});
  const auto one = attend({alone, alone, alone}, {0, 3}, {9, 9, 9}, 0.5);
  const auto two = attend({packed, packed, packed}, {0, 2, 5}, {4, 4, 9, 9, 9}, 0.5);
  const std::vector<double> tail(two[0].values.begin() + 4, two[0].values.end());
  EXPECT_EQ(one[0].values, tail);
  EXPECT_NE(one[0].values, attend({alone, alone, alone}, {0, 3}, {8, 8, 8}, 0.5)[0].values);
}

TEST(Attention, RefusesASequenceLongerThanItsWorkspace) {
  const Tensor x = floats({4, 1}, {1, 2, 3, 4});
  const auto attend_at_most = [&](int64_t max_length) {
    return apply_in_double(
        ops::kAttention, ops::AttentionAttributes{.max_length = max_length},
        {x, x, x, integers({3}, {0, 1, 4}), integers({4}, {0, 1, 1, 1}), integers({2}, {1, 2})});
  };
  EXPECT_EQ(attend_at_most(3)[0].values, attend_at_most(4)[0].values);
  EXPECT_THROW(attend_at_most(2), InternalError);
}

}  // namespace
}  // namespace cloze::backend::reference
