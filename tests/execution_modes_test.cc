// Ways to execute the same training: activations kept or recomputed, planned or eager, step by step
// or several steps before the host looks at their results, in any micro-batches. All train to
// the same weights.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "data/generated_dataset.h"
#include "data/loader.h"
#include "engine/change_values_test.h"
#include "platform/files/file.h"
#include "platform/signals.h"
#include "small_model.h"
#include "train/training.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSteps = 20;
const data::MicroBatchCapacity kPacked{.tokens = 64, .sequences = 6, .predictions = 20};

struct Execution {
  data::MicroBatchCapacity capacity = kPacked;
  bool recompute = false;
  bool eager = false;
  bool states_in_file = false;
  int64_t device_iterations = 1;
};

class Executions : public testing::TestWithParam<DType> {
 protected:
  static train::TrainingStepOptions options_of(const Execution& execution) {
    return {.model = small_model(),
            .capacity = execution.capacity,
            .optimizer = optimizer_options("adamw"),
            .compute_dtype = GetParam(),
            .recompute = execution.recompute,
            .eager = execution.eager,
            .seed = 11,
            .compile = {.device = tested_device(),
                        .target = {.threads = 2},
                        .optimizer_state_folder =
                            execution.states_in_file ? testing::TempDir() : std::string()}};
  }

  // Trains step by step; all batches are made beforehand.
  static Trained train(const Execution& execution) {
    train::TrainingStep step(options_of(execution));
    step.session().initialize_parameters(5);
    Trained result{.start = all_parameters(step.session())};
    std::vector<data::StepBatch> batches;
    std::vector<train::StepAhead> steps;
    for (int64_t i = 0; i < kSteps; ++i) {
      batches.push_back(data::pack(random_samples(100 + i, kSamplesOfStep), execution.capacity));
    }
    for (int64_t i = 0; i < kSteps; ++i) {
      steps.push_back({&batches[i], i, learning_rate("adamw"), loss_scale()});
    }
    for (int64_t i = 0; i < kSteps; i += execution.device_iterations) {
      const auto count = std::min(execution.device_iterations, kSteps - i);
      for (const train::StepResult& one : run(step, std::span(steps).subspan(i, count))) {
        EXPECT_TRUE(one.is_finite() && one.update_is_finite) << "step " << i;
        result.losses.push_back(one.loss() + one.gradient_norm);
      }
    }
    result.parameters = all_parameters(step.session());
    return result;
  }

  static std::vector<train::StepResult> run(train::TrainingStep& step,
                                            std::span<const train::StepAhead> steps) {
    for (const train::StepAhead& one : steps) {
      step.begin(one);
      step.finish();
    }
    return step.take_results();
  }

  static double loss_scale() { return GetParam() == DType::kF16 ? kLossScaleOfF16 : 1.0; }
};

TEST_P(Executions, AllTrainToTheSameBytes) {
  const Trained plain = train({});
  for (const Execution& other :
       {Execution{.recompute = true}, Execution{.eager = true}, Execution{.device_iterations = 3},
        Execution{.states_in_file = true}, Execution{.recompute = true, .eager = true},
        Execution{.recompute = true, .device_iterations = 20}}) {
    const Trained trained = train(other);
    EXPECT_EQ(trained.parameters, plain.parameters);
    EXPECT_EQ(trained.losses, plain.losses);
  }
}

// Sums over a step are made in another order.
TEST_P(Executions, AnySplitTrainsToTheSameWeights) {
  const Trained plain = train({});
  const double bound = GetParam() == DType::kF32
                           ? reordering_bound(kSteps)
                           : rounding_gap(train::training_graph(options_of({})).graph, GetParam());
  for (const data::MicroBatchCapacity& capacity :
       {data::MicroBatchCapacity{.tokens = 256, .sequences = 8, .predictions = 64},
        data::MicroBatchCapacity{.tokens = 30, .sequences = 1, .predictions = 8}}) {
    EXPECT_LE(relative_gap(plain, train({.capacity = capacity})), bound);
    const Trained together = train({.capacity = capacity, .device_iterations = 4});
    EXPECT_EQ(together.parameters, train({.capacity = capacity}).parameters);
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, Executions,
                         testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

class Visits : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  train::TrainingOptions options(const std::string& name, int64_t device_iterations) const {
    train::TrainingOptions options{
        .step = {.model = small_model(),
                 .capacity = {.tokens = 40, .sequences = 4, .predictions = 12},
                 .optimizer = {.name = "adamw"},
                 .seed = 3,
                 .compile = {.device = tested_device(), .target = {.threads = 2}}},
        .dataset = std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
            .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 97, .size = 50}),
        .global_batch_size = 8,
        .num_steps = 20,
        .device_iterations = device_iterations,
        .schedule = {.base_learning_rate = 0.01, .warmup_steps = 2, .total_steps = 20},
        .save_path = folder_ / name,
        .steps_per_checkpoint = 7,
        .evaluation_steps = {5, 10, 15}};
    return options;
  }

  std::string weights(const std::string& name, int64_t step) const {
    const fs::path folder = train::checkpoint_path(folder_ / name, step);
    return platform::read_file(folder / "model.safetensors") +
           platform::read_file(folder / "optimizer.safetensors");
  }

  static void ignore(const std::string&) {}
  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_execution_modes_test";
};

struct Lines : train::MetricsSink {
  void write(const train::StepMetrics& metrics) override { lines.push_back(metrics); }
  std::vector<train::StepMetrics> lines;
};

// What a run logs, without its times, and the steps that it evaluates.
struct Log {
  std::vector<double> numbers;
  std::vector<int64_t> evaluated;
  std::vector<double> seconds;
  bool operator==(const Log& other) const {
    return numbers == other.numbers && evaluated == other.evaluated;
  }
};

Log log_of(train::TrainingOptions options) {
  Log log;
  options.evaluate = [&](engine::Session&, int64_t step) {
    log.evaluated.push_back(step);
    return 0.0;
  };
  Lines sink;
  train::Training(options, [](const std::string&) {}).run({&sink});
  for (const train::StepMetrics& line : sink.lines) {
    log.numbers.insert(log.numbers.end(),
                       {static_cast<double>(line.step), line.loss, line.gradient_norm,
                        line.learning_rate, line.epoch, static_cast<double>(line.samples)});
    log.seconds.push_back(line.seconds);
  }
  return log;
}

// Checkpoints, evaluations, log lines and a resumed run are those of a run step by step.
TEST_F(Visits, ComeWhereACheckpointOrAnEvaluationIsDue) {
  const Log one = log_of(options("one", 1));
  const Log four = log_of(options("four", 4));
  EXPECT_EQ(four, one);
  EXPECT_EQ(four.evaluated, (std::vector<int64_t>{5, 10, 15, 20}));
  // 1-4, 5, 6-7, 8-10, 11-14, 15, 16-19, 20
  EXPECT_EQ(four.seconds[0], four.seconds[3]);
  EXPECT_NE(four.seconds[3], four.seconds[4]);
  EXPECT_EQ(four.seconds[5], four.seconds[6]);
  EXPECT_NE(four.seconds[6], four.seconds[7]);
  for (const int64_t step : {7, 14, 20}) EXPECT_EQ(weights("four", step), weights("one", step));

  fs::remove_all(train::checkpoint_path(folder_ / "four", 20));
  fs::remove_all(train::checkpoint_path(folder_ / "four", 14));
  train::TrainingOptions rest = options("four", 3);
  rest.restore_dir = rest.save_path;
  log_of(rest);
  EXPECT_EQ(weights("four", 20), weights("one", 20));
}

std::string divergence_of(const train::TrainingOptions& options, const std::string& name,
                          float value) {
  train::Training training(options, [](const std::string&) {});
  engine::change_values<float>(training.session(), name,
                               [&](std::span<float> values) { values[0] = value; });
  try {
    training.run({});
  } catch (const train::DivergenceError& error) {
    return error.what();
  }
  return "finished";
}

// The device does not stop, but nothing is updated once a weight is not finite.
TEST_F(Visits, AStepThatIsNotFiniteIsNamed) {
  const std::string message =
      divergence_of(options("run", 4), "bert.pooler.dense.bias", std::nanf(""));
  EXPECT_EQ(message.find("step 1 is not finite: loss nan"), 0u) << message;
  EXPECT_NE(message.find("The problem was there before the step, in bert.pooler.dense.bias"),
            std::string::npos)
      << message;
  EXPECT_TRUE(train::checkpoint_steps(folder_ / "run").empty());
}

// The signal comes before the first step, whose only micro-batch is computed all the same; it ends
// the next one.
TEST_F(Visits, ASignalLeavesTheStepsThatWereWhole) {
  train::TrainingOptions run = options("run", 4);
  const auto batch_of = [&](int64_t sequences) {
    return data::load_step({.dataset = run.dataset,
                            .global_batch_size = sequences,
                            .capacity = run.step.capacity,
                            .seed = run.step.seed},
                           0);
  };
  const data::StepBatch one = batch_of(2), several = batch_of(8);
  ASSERT_EQ(one.micro_batches.size(), 1u);
  ASSERT_GT(several.micro_batches.size(), 1u);
  run.step.compile.target.threads = 1;
  train::TrainingStep step(run.step);
  step.session().initialize_parameters(3);
  const auto exit_with_done = [&] {
    platform::install_stop_signals();
    std::raise(SIGTERM);
    const train::StepAhead steps[] = {{.batch = &one, .step = 0, .learning_rate = 0.01},
                                      {.batch = &several, .step = 1, .learning_rate = 0.01}};
    try {
      for (const train::StepAhead& next : steps) {
        step.begin(next);
        step.finish();
      }
    } catch (const platform::Interruption&) {
      std::_Exit(static_cast<int>(step.take_results().size()));
    }
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_done(), testing::ExitedWithCode(1), "");
}

// An update that overflows leaves no gradients to look at.
TEST_F(Visits, WhatTheDeviceWentOnAfterIsToldWithAdvice) {
  const std::string message =
      divergence_of(options("run", 4), "optimizer.v.bert.pooler.dense.bias", INFINITY);
  EXPECT_EQ(message.find("the update of step 1 produced numbers that are not finite."), 0u)
      << message;
  EXPECT_NE(message.find("Set device_iterations 1 to see where it begins"), std::string::npos)
      << message;
  EXPECT_TRUE(train::checkpoint_steps(folder_ / "run").empty());
}

// tanh of an infinite number is 1: loss and gradients stay finite, and no other check would notice.
train::StepResult run_with_large_pooler(train::TrainingStep& step, const data::StepBatch& batch) {
  step.session().initialize_parameters(5);
  engine::change_values<float>(step.session(), "bert.pooler.dense.weight",
                               [](std::span<float> values) {
                                 std::ranges::fill(values.first(24), 0.0f);
                                 values[0] = 3e38f;
                               });
  engine::change_values<float>(step.session(), "bert.pooler.dense.bias",
                               [](std::span<float> values) { values[0] = 3e38f; });
  return step.run(batch, 4, 0.01);
}

TEST(Eager, NamesPhaseOperatorAndTensor) {
  train::TrainingStepOptions options{
      .model = small_model(),
      .capacity = kPacked,
      .optimizer = optimizer_options("adamw"),
      .compile = {.device = tested_device(), .target = {.threads = 1}}};
  const auto batch = data::pack(random_samples(1, kSamplesOfStep), kPacked);
  train::TrainingStep planned(options);
  EXPECT_TRUE(run_with_large_pooler(planned, batch).is_finite());

  options.eager = true;
  train::TrainingStep step(options);
  EXPECT_FALSE(run_with_large_pooler(step, batch).is_finite());
  const std::string origin = train::origin_of(step, batch, 4);
  EXPECT_EQ(origin.find("It began in bert.pooler.dense.linear, with bert.pooler.dense.weight, "
                        "bert.pooler.dense.bias: its output [6, 24] f32 (element "),
            0u)
      << origin;
  EXPECT_TRUE(origin.ends_with(" is inf), in phase micro_step")) << origin;
  EXPECT_EQ(step.session().read<float>("bert.pooler.dense.bias")[0], 3e38f) << "nothing updated";
}

}  // namespace
}  // namespace cloze::tests
