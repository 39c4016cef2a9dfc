// One run on several ranks: they share the micro-batches of each step, and all have the weights
// that one rank alone would have.
#include <gtest/gtest.h>

#include <mutex>

#include "comm/loopback.h"
#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

constexpr int64_t kSteps = 50;
// Several micro-batches in a step.
const data::MicroBatchCapacity kCapacity{.tokens = 40, .sequences = 3, .predictions = 12};

class Ranks : public testing::TestWithParam<DType> {
 protected:
  static train::TrainingStepOptions options_of(comm::Communicator& ranks) {
    return {.model = small_model(),
            .capacity = kCapacity,
            .optimizer = optimizer_options("lamb"),
            .compute_dtype = GetParam(),
            .seed = 11,
            .compile = {.num_threads = 1},
            .ranks = &ranks};
  }
  static Trained train(comm::Communicator& ranks) {
    train::TrainingStep step(options_of(ranks));
    if (GetParam() == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
    return train_steps(step, kCapacity, kSteps, learning_rate("lamb"));
  }
  // What each rank has at the end.
  static std::vector<Trained> train_on(int size) {
    std::vector<Trained> results(static_cast<size_t>(size));
    comm::run_loopback(size, [&](comm::Communicator& ranks) {
      results[static_cast<size_t>(ranks.rank())] = train(ranks);
    });
    return results;
  }
};

TEST_P(Ranks, AllHaveTheWeightsOfOne) {
  const Trained alone = train(comm::alone());
  for (const int size : {2, 3, 4}) {
    const std::vector<Trained> all = train_on(size);
    for (const Trained& one : all) {
      EXPECT_EQ(one.parameters, all.front().parameters);
      EXPECT_EQ(one.losses, all.front().losses);
    }
    const double bound =
        GetParam() == DType::kF32
            ? reordering_bound(kSteps)
            : rounding_gap(train::training_graph(options_of(comm::alone())).graph, GetParam());
    EXPECT_LE(relative_gap(all.front(), alone), bound) << size << " ranks";
  }
}

TEST_P(Ranks, TheSameRunAgainHasTheSameBytes) {
  EXPECT_EQ(train_on(3).back().parameters, train_on(3).back().parameters);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Ranks, testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
