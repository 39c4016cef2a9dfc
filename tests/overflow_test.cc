// Training in f16 with a loss scale: what overflows is skipped and leaves no trace but in the
// counts, a run that overflows for ever stops, and a resumed run goes on with the same bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "data/loader.h"
#include "engine/change_values_test.h"
#include "platform/files/file.h"
#include "small_run.h"
#include "train/training.h"

namespace cloze::tests {
namespace {

namespace fs = std::filesystem;

constexpr double kTooLarge = 0x1p24;  // every step overflows

void ignore(const std::string&) {}

class Overflow : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  train::TrainingOptions options(const std::string& name, int64_t num_steps,
                                 DType dtype = DType::kF16) const {
    return small_run(dtype, num_steps, folder_ / name);
  }

  std::string bytes(const std::string& name, int64_t step, const std::string& file) const {
    return platform::read_file(folder_ / name / ("checkpoint-" + std::to_string(step)) / file);
  }
  std::string weights(const std::string& name, int64_t step) const {
    return bytes(name, step, "model.safetensors") + bytes(name, step, "optimizer.safetensors");
  }

  // With this value in a weight of the pooler, if any.
  static std::string divergence_of(const train::TrainingOptions& options,
                                   std::optional<float> weight = {}) {
    train::Training training(options, ignore);
    if (weight) {
      engine::change_values<float>(training.session(), "bert.pooler.dense.weight",
                                   [&](std::span<float> values) { values[0] = *weight; });
    }
    try {
      training.run({});
    } catch (const train::DivergenceError& error) {
      return error.what();
    }
    return "finished";
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_overflow_test";
};

class Lines : public train::MetricsSink {
 public:
  void write(const train::StepMetrics& metrics) override { lines.push_back(metrics); }
  std::vector<train::StepMetrics> lines;
};

std::vector<float> parameters(engine::Session& session) {
  std::vector<float> all;
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const auto values = session.read<float>(session.graph().info(value).name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// As if the run had begun with the batch after them, and with the scale that is left.
TEST_F(Overflow, SkippedStepsLeaveNoTrace) {
  train::TrainingOptions run = options("run", 6);
  run.loss_scale = {.initial = kTooLarge};
  std::vector<std::string> notices;
  train::Training training(run, [&](const std::string& line) { notices.push_back(line); });
  Lines sink;
  training.run({&sink});
  const int64_t skipped = training.state().skipped_steps;
  ASSERT_GT(skipped, 0);
  const double scale = std::ldexp(kTooLarge, -static_cast<int>(skipped));
  EXPECT_EQ(training.state().loss_scale.dynamic, scale);
  EXPECT_EQ(training.state().step, 6);
  EXPECT_EQ(training.state().samples, (6 + skipped) * 8);
  EXPECT_EQ(notices.front(),
            "step 1 overflowed with loss scale 16777216 and is skipped; the next has 8388608");

  train::TrainingStep step(run.step);
  step.session().initialize_parameters(run.step.seed);
  step.set_loss_scale(scale);
  data::Loader loader({.dataset = run.dataset,
                       .global_batch_size = 8,
                       .capacity = run.step.capacity,
                       .seed = run.step.seed,
                       .first_step = skipped});
  ASSERT_EQ(sink.lines.size(), 6u);
  for (int64_t i = 0; i < 6; ++i) {
    const double rate = optim::learning_rate(run.schedule, i);
    const train::StepResult result = step.run(loader.next(), i, rate);
    EXPECT_EQ(sink.lines[i].step, i + 1);
    EXPECT_EQ(sink.lines[i].loss, result.loss());
    EXPECT_EQ(sink.lines[i].gradient_norm, result.gradient_norm);
    EXPECT_EQ(sink.lines[i].learning_rate, rate);
    EXPECT_EQ(sink.lines[i].loss_scale, scale);
    EXPECT_EQ(sink.lines[i].skipped_steps, skipped);
  }
  EXPECT_EQ(parameters(training.session()), parameters(step.session()));
}

// A scale that doubles after every good step overflows again and again.
TEST_F(Overflow, ResumesWithTheSameBytes) {
  const auto run = [&](const std::string& name, int64_t steps) {
    train::TrainingOptions run = options(name, steps);
    run.loss_scale = {.initial = 0x1p20, .window = 1};
    if (fs::exists(run.save_path)) run.restore_dir = run.save_path;
    train::Training training(run, ignore);
    training.run({});
    return training.state();
  };
  const train::TrainingState whole = run("whole", 12);
  EXPECT_GT(whole.skipped_steps, 3);
  for (const int64_t stop : {1, 2, 5, 6, 11}) run("parts", stop);
  EXPECT_EQ(run("parts", 12), whole);
  EXPECT_EQ(weights("parts", 12), weights("whole", 12));
  EXPECT_EQ(bytes("parts", 12, train::kStateName), bytes("whole", 12, train::kStateName));
}

TEST_F(Overflow, TheFloorStopsTheRunWithAdvice) {
  train::TrainingOptions run = options("run", 6);
  run.loss_scale = {.initial = kTooLarge, .minimum = kTooLarge / 2};
  const std::string message = divergence_of(run);
  EXPECT_EQ(message.find("step 1 overflows with loss scale 8388608 (overflows in a row: 2), and "
                         "half of it would be below min_loss_scale 8388608. It began in "),
            0u)
      << message;
  EXPECT_TRUE(
      message.ends_with("Lower base_learning_rate, compute in bf16 or f32 (precision), or "
                        "lower min_loss_scale"))
      << message;
  EXPECT_TRUE(train::checkpoint_steps(run.save_path).empty());
}

TEST_F(Overflow, AGivenScaleThatAlwaysOverflowsStopsTheRun) {
  train::TrainingOptions run = options("run", 6);
  run.loss_scale = {.given = kTooLarge};
  const std::string message = divergence_of(run);
  EXPECT_EQ(message.find(
                "step 1 overflows with loss scale 16777216 (overflows in a row: 16). It began in "),
            0u)
      << message;
  EXPECT_TRUE(message.ends_with("or lower the loss scale")) << message;
}

// Finite in f32, where weights are kept.
TEST_F(Overflow, OfTheForwardPassIsNamed) {
  train::TrainingOptions run = options("run", 6);
  run.loss_scale = {.initial = 4};
  const std::string message = divergence_of(run, 1e6f);
  EXPECT_EQ(message.find("step 1 overflows with loss scale 1 (overflows in a row: 3), and half of "
                         "it would be below min_loss_scale 1. It began in bert.pooler.dense"),
            0u)
      << message;
}

// No scale would help: the run stops in the same step.
TEST_F(Overflow, AWeightThatIsNotFiniteIsADivergence) {
  const std::string message =
      divergence_of(options("run", 6), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(message.find("step 1 is not finite: loss nan, "), 0u) << message;
  EXPECT_NE(message.find("bert.pooler.dense.weight (element 0 is nan)"), std::string::npos)
      << message;
}

// Powers of two change no byte, as norms, clipping and moments are those of the true gradients.
TEST_F(Overflow, AScaleChangesNothingInF32) {
  const auto run = [&](const std::string& name, const train::LossScaleOptions& scale) {
    train::TrainingOptions run = options(name, 6, DType::kF32);
    run.step.optimizer.max_gradient_norm = 0.5;
    run.loss_scale = scale;
    Lines sink;
    train::Training(run, ignore).run({&sink});
    std::vector<double> norms;
    for (const train::StepMetrics& line : sink.lines) norms.push_back(line.gradient_norm);
    return norms;
  };
  const std::vector<double> plain = run("plain", {});
  EXPECT_GT(plain.back(), 0.5) << "is clipped";
  EXPECT_EQ(run("scaled", {.given = 0x1p12}), plain);
  EXPECT_EQ(run("by_step", {.by_step = {{0, 2}, {3, 512}}}), plain);
  EXPECT_EQ(weights("scaled", 6), weights("plain", 6));
  EXPECT_EQ(weights("by_step", 6), weights("plain", 6));
}

}  // namespace
}  // namespace cloze::tests
