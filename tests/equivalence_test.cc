// What must not change the result of training: how samples are packed, over how many micro-batches,
// on which device (to rounding); and that the same step twice gives the same bytes.
#include <gtest/gtest.h>

#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

constexpr int64_t kSteps = 4;

struct RunOptions {
  data::MicroBatchCapacity capacity;
  std::string device = tested_device();
  DType dtype = DType::kF32;
  std::string optimizer = "adamw";
  bool recompute = false;
};

train::TrainingStepOptions step_options(const RunOptions& options) {
  return {.model = small_model(),
          .capacity = options.capacity,
          .optimizer = optimizer_options(options.optimizer),
          .compute_dtype = options.dtype,
          .recompute = options.recompute,
          .seed = 11,
          .compile = {.device = options.device, .target = {.threads = 2}}};
}

Trained train(const RunOptions& options) {
  train::TrainingStep step(step_options(options));
  if (options.dtype == DType::kF16) step.set_loss_scale(kLossScaleOfF16);
  return train_steps(step, options.capacity, kSteps, learning_rate(options.optimizer));
}

const data::MicroBatchCapacity kOneMicroBatch{.tokens = 256, .sequences = 8, .predictions = 64};
const data::MicroBatchCapacity kPacked{.tokens = 64, .sequences = 6, .predictions = 20};
const data::MicroBatchCapacity kOnePerRow{.tokens = 30, .sequences = 1, .predictions = 8};

class Equivalence : public testing::TestWithParam<std::string> {};

TEST_P(Equivalence, PackingChangesNothing) {
  const Trained whole = train({.capacity = kOneMicroBatch, .optimizer = GetParam()});
  for (const auto& capacity : {kPacked, kOnePerRow}) {
    const Trained other = train({.capacity = capacity, .optimizer = GetParam()});
    EXPECT_LE(relative_gap(whole, other), reordering_bound(kSteps));
    for (int64_t i = 0; i < kSteps; ++i) {
      EXPECT_NEAR(whole.losses[i], other.losses[i], loss_reordering_bound(whole.losses[i]));
    }
  }
}

TEST_P(Equivalence, TheDeviceFollowsReference) {
  const Trained tested = train({.capacity = kPacked, .optimizer = GetParam()});
  const Trained reference =
      train({.capacity = kPacked, .device = "reference", .optimizer = GetParam()});
  EXPECT_LE(relative_gap(reference, tested), reordering_bound(kSteps));
}

TEST_P(Equivalence, HalvesFollowF32) {
  const Trained f32 = train({.capacity = kPacked, .optimizer = GetParam()});
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const RunOptions rounded{.capacity = kPacked, .dtype = dtype, .optimizer = GetParam()};
    const Trained half = train(rounded);
    EXPECT_LE(relative_gap(f32, half),
              rounding_gap(train::training_graph(step_options(rounded)).graph, dtype));
    for (int64_t i = 0; i < kSteps; ++i) {
      EXPECT_NEAR(f32.losses[i], half.losses[i], f32.losses[i] * unit_roundoff(dtype));
    }
  }
}

TEST_P(Equivalence, TheSameRunTwiceGivesTheSameBytes) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const RunOptions options{.capacity = kPacked, .dtype = dtype, .optimizer = GetParam()};
    EXPECT_EQ(train(options).parameters, train(options).parameters);
  }
}

TEST_P(Equivalence, RecomputationChangesNoByte) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    RunOptions options{.capacity = kPacked, .dtype = dtype, .optimizer = GetParam()};
    const Trained kept = train(options);
    options.recompute = true;
    EXPECT_EQ(train(options).parameters, kept.parameters);
  }
}

// Steps of BERT-tiny with few words, and with dropout.
class OtherDevice : public testing::TestWithParam<DType> {};

TEST_P(OtherDevice, FollowsTheCpu) {
  if (tested_device() == "cpu") GTEST_SKIP() << "it is the CPU that is tested";
  constexpr int64_t kStepsOfTiny = 20;
  constexpr double kRate = 1e-3;  // with more it diverges, and then so do any two roundings
  train::TrainingStepOptions options =
      step_options({.capacity = kPacked, .device = "cpu", .dtype = GetParam()});
  options.model = as_tested({.vocab_size = 97,
                             .hidden_size = 128,
                             .num_hidden_layers = 2,
                             .num_attention_heads = 2,
                             .intermediate_size = 512,
                             .max_position_embeddings = 32});
  const auto trained_on = [&](const std::string& device) {
    options.compile.device = device;
    train::TrainingStep step(options);
    return train_steps(step, kPacked, kStepsOfTiny, kRate);
  };
  const Trained cpu = trained_on("cpu"), tested = trained_on(tested_device());
  // Both round to a half, each in its own order.
  const bool is_f32 = GetParam() == DType::kF32;
  const double gap = is_f32 ? reordering_bound(kStepsOfTiny)
                            : 2.0 * rounding_gap(train::training_graph(options).graph, GetParam());
  EXPECT_LE(relative_gap(cpu, tested), gap);
  for (size_t i = 0; i < cpu.losses.size(); ++i) {
    const double relative =
        is_f32 ? reordering_bound(kStepsOfTiny) : 2.0 * unit_roundoff(GetParam());
    EXPECT_NEAR(cpu.losses[i], tested.losses[i], relative * cpu.losses[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, OtherDevice, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

INSTANTIATE_TEST_SUITE_P(Optimizers, Equivalence, testing::ValuesIn(optim::optimizer_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace cloze::tests
