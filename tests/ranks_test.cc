// One run on several ranks: they share the micro-batches of each step, and all have the weights
// that one rank alone would have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "comm/loopback.h"
#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

// Several micro-batches in a step.
const data::MicroBatchCapacity kCapacity{.tokens = 40, .sequences = 3, .predictions = 12};

class Ranks : public testing::TestWithParam<DType> {
 protected:
  static train::TrainingStepOptions options_of(comm::Communicator& ranks) {
    return rank_options(small_model(), kCapacity, GetParam(), ranks);
  }
  static Trained train(comm::Communicator& ranks) { return train(options_of(ranks)); }
  static Trained train(const train::TrainingStepOptions& options) {
    train::TrainingStep step(options);
    if (GetParam() == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
    return train_steps(step, kCapacity, kStepsOfRanks, learning_rate("lamb"));
  }
  using Change = std::function<void(train::TrainingStepOptions&)>;
  // What each rank has at the end.
  static std::vector<Trained> train_on(int size, const Change& change = {}) {
    std::vector<Trained> results(static_cast<size_t>(size));
    comm::run_loopback(size, [&](comm::Communicator& ranks) {
      train::TrainingStepOptions options = options_of(ranks);
      if (change) change(options);
      results[static_cast<size_t>(ranks.rank())] = train(options);
    });
    return results;
  }
  // For weights whose sums had another order, or that were rounded differently.
  static double bound() {
    return GetParam() == DType::kF32
               ? reordering_bound(kStepsOfRanks)
               : rounding_gap(train::training_graph(options_of(comm::alone())).graph, GetParam());
  }
  static void expect_same_on_all(const std::vector<Trained>& all) {
    for (const Trained& one : all) {
      EXPECT_EQ(one.parameters, all.front().parameters);
      EXPECT_EQ(one.losses, all.front().losses);
    }
  }
};

TEST_P(Ranks, AllHaveTheWeightsOfOne) {
  const Trained alone = train(comm::alone());
  for (const int size : {2, 3, 4}) {
    const std::vector<Trained> all = train_on(size);
    expect_same_on_all(all);
    EXPECT_LE(relative_gap(all.front(), alone), bound()) << size << " ranks";
  }
}

TEST_P(Ranks, TheSameRunAgainHasTheSameBytes) {
  EXPECT_EQ(train_on(3).back().parameters, train_on(3).back().parameters);
}

// Without clipping the norm has no part in the update, and every sum is the same.
TEST_P(Ranks, WithShardedStatesHaveTheSameBytes) {
  const Change shards = [](train::TrainingStepOptions& options) { options.shards_states = true; };
  for (const int size : {2, 3}) {
    const std::vector<Trained> all = train_on(size, shards);
    expect_same_on_all(all);
    EXPECT_EQ(all.front().parameters, train_on(size).front().parameters) << size << " ranks";
  }
}

// Tensors that share a trust ratio stay on one rank.
TEST_P(Ranks, WithShardedStatesAdaptAlike) {
  train::TrainingStepOptions options = options_of(comm::alone());
  adapt_as_popart(options);
  const Trained alone = train(options);
  EXPECT_GT(relative_gap(alone, train(comm::alone())), bound()) << "the options do nothing";
  for (const int size : {2, 3}) {
    const std::vector<Trained> whole = train_on(size, adapt_as_popart);
    const std::vector<Trained> sharded = train_on(size, [](train::TrainingStepOptions& changed) {
      adapt_as_popart(changed);
      changed.shards_states = true;
    });
    expect_same_on_all(sharded);
    EXPECT_EQ(sharded.front().parameters, whole.front().parameters) << size << " ranks";
    EXPECT_LE(relative_gap(sharded.front(), alone), bound()) << size << " ranks";
  }
}

// The norm that all are clipped by is that of all parts together.
TEST_P(Ranks, WithShardedStatesClipAlike) {
  const Change clips = [](train::TrainingStepOptions& options) {
    options.optimizer = optimizer_options("momentum");  // LAMB would not show a wrong norm
    options.optimizer.max_gradient_norm = 0.05;
  };
  const std::vector<Trained> whole = train_on(3, clips);
  const std::vector<Trained> sharded = train_on(3, [&](train::TrainingStepOptions& options) {
    clips(options);
    options.shards_states = true;
  });
  expect_same_on_all(sharded);
  EXPECT_LE(norm_of_difference(sharded.front().parameters, whole.front().parameters),
            bound() * norm_of_difference(whole.front().start, whole.front().parameters));
}

TEST_P(Ranks, FreezeTheSameParameters) {
  train::TrainingStepOptions options = options_of(comm::alone());
  options.optimizer.depth.frozen_layers = 1;
  const Trained alone = train(options);
  for (const bool shards : {false, true}) {
    const std::vector<Trained> all = train_on(3, [&](train::TrainingStepOptions& changed) {
      changed.optimizer.depth.frozen_layers = 1;
      changed.shards_states = shards;
    });
    expect_same_on_all(all);
    EXPECT_LE(relative_gap(all.front(), alone), bound());
  }
}

TEST_P(Ranks, EachHaveTheStatesOfTheirPart) {
  const auto elements_of_states = [](const train::TrainingStep& step) {
    int64_t elements = 0;
    const graph::Graph& graph = step.session().graph();
    for (const graph::Value state : graph.variables(graph::VariableRole::kOptimizerState)) {
      elements += graph.type(state).shape.elements();
    }
    return elements;
  };
  const int64_t all = elements_of_states(train::TrainingStep(options_of(comm::alone())));
  std::vector<int64_t> parts(3);
  comm::run_loopback(3, [&](comm::Communicator& ranks) {
    train::TrainingStepOptions options = options_of(ranks);
    options.shards_states = true;
    parts[static_cast<size_t>(ranks.rank())] = elements_of_states(train::TrainingStep(options));
  });
  EXPECT_EQ(parts[0] + parts[1] + parts[2], all);
  for (const int64_t part : parts) EXPECT_LE(part, all / 2);
}

TEST_P(Ranks, MayExchangeGradientsInBf16) {
  const std::vector<Trained> all = train_on(
      2, [](train::TrainingStepOptions& options) { options.gradient_transport = DType::kBF16; });
  expect_same_on_all(all);
  const std::vector<Trained> exact = train_on(2);
  EXPECT_NE(all.front().parameters, exact.front().parameters);
  // The parts of a gradient that arrive are rounded, and the sum is rounded once more.
  const double roundings = 2.0 * std::sqrt(2.0) * unit_roundoff(DType::kBF16);
  EXPECT_LE(relative_gap(all.front(), exact.front()), roundings + bound());
}

// As they share micro-batches: the sums of all passes, in their order, are those of one rank.
TEST_P(Ranks, ShareThePassesOfSyntheticData) {
  data::StepBatch batch = data::pack(random_samples(1, 1), kCapacity);
  ASSERT_EQ(batch.micro_batches.size(), 1u);
  batch.synthetic_passes = 6;
  for (int64_t* const count : {&batch.num_tokens, &batch.num_sequences, &batch.num_predictions}) {
    *count *= batch.synthetic_passes;
  }
  std::vector<float> alone;
  for (const int size : {1, 2, 3, 4}) {
    comm::run_loopback(size, [&](comm::Communicator& ranks) {
      train::TrainingStepOptions options = options_of(ranks);
      options.reproducible_sums = true;
      train::TrainingStep step(options);
      if (GetParam() == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
      runtime::Executor& executor = step.session().executor();
      executor.set_profiling(true);
      step.run(batch, 0, learning_rate("lamb"));
      const auto own = std::ranges::count_if(
          executor.spans(), [](const auto& span) { return span.phase == 0 && span.launch == 0; });
      EXPECT_EQ(own, 6 / size + (ranks.rank() < 6 % size ? 1 : 0)) << size << " ranks";
      if (size == 1) alone = all_parameters(step.session());
      EXPECT_EQ(all_parameters(step.session()), alone) << size << " ranks";
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Ranks, testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
