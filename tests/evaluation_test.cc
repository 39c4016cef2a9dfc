// The evaluation of a run while it trains: what it computes, that it does not affect the run, and
// how a target ends the run.
#include "train/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/packer.h"
#include "platform/files/file.h"
#include "small_run.h"

namespace cloze::tests {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const data::Dataset> held_out() {
  return std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
      .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 61, .size = 30, .seed = 77});
}

struct Evaluations : train::MetricsSink {
  void write(const train::StepMetrics& /*metrics*/) override {}
  void write_evaluation(const train::EvaluationMetrics& metrics) override {
    all.push_back(metrics);
  }
  std::vector<int64_t> steps() const {
    std::vector<int64_t> steps;
    for (const train::EvaluationMetrics& one : all) steps.push_back(one.step);
    return steps;
  }
  std::vector<train::EvaluationMetrics> all;
};

class EvaluatedRun : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  train::TrainingOptions options(const std::string& name) const {
    return small_run(GetParam(), 12, folder_ / name);
  }
  train::TrainingOptions evaluated(const std::string& name) const {
    train::TrainingOptions run = options(name);
    run.evaluation_set = held_out();
    run.evaluation_steps = {2, 5, 9};
    return run;
  }
  std::string weights(const std::string& name) const {
    const fs::path checkpoint = train::checkpoint_path(folder_ / name, 12);
    return platform::read_file(checkpoint / "model.safetensors") +
           platform::read_file(checkpoint / "optimizer.safetensors");
  }

  static void ignore(const std::string&) {}
  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_evaluation_test";
};

TEST_P(EvaluatedRun, DoesNotFeelIt) {
  train::Training(options("plain"), ignore).run({});
  Evaluations evaluations;
  train::Training training(evaluated("evaluated"), ignore);
  EXPECT_EQ(training.run({&evaluations}), train::TrainingOutcome::kFinished);
  EXPECT_EQ(evaluations.steps(), (std::vector<int64_t>{2, 5, 9, 12}));
  EXPECT_EQ(evaluations.all.back().samples, 12 * 8);
  EXPECT_EQ(weights("evaluated"), weights("plain"));
}

// Without dropout a step's losses before its update are those of an evaluation of its samples; with
// dropout the evaluation has the same, and the step others.
TEST_P(EvaluatedRun, HasTheLossesOfAStepWithoutDropout) {
  train::TrainingOptions run = options("losses");
  std::vector<data::Sample> samples;
  for (int64_t i = 0; i < held_out()->size(); ++i) samples.push_back(held_out()->sample(i, 0));
  const data::StepBatch batch = data::pack(samples, run.step.capacity);
  const auto losses = [&](double dropout, bool evaluates) {
    run.step.model.hidden_dropout_prob = run.step.model.attention_probs_dropout_prob = dropout;
    train::TrainingStep step(run.step);
    step.session().initialize_parameters(5);
    if (!evaluates) return step.accumulate(batch, 0).losses;
    train::Evaluation evaluation(run.step, *held_out());
    EXPECT_EQ(evaluation.num_samples(), 30);
    return evaluation.evaluate(step);
  };
  const auto step = losses(0.0, false), evaluation = losses(0.0, true);
  // As in packing_equivalence_test.cc.
  const double terms = static_cast<double>(batch.num_tokens);
  const double sums = 2.0 * (8.0 * static_cast<double>(run.step.model.num_hidden_layers) + 8.0);
  const double bound = unit_roundoff(GetParam()) * std::sqrt(terms) * sums;
  ASSERT_EQ(evaluation.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(evaluation[i].name, step[i].name);
    EXPECT_NEAR(evaluation[i].loss, step[i].loss, bound * step[i].loss);
    EXPECT_EQ(losses(0.5, true)[i].loss, evaluation[i].loss);
    EXPECT_EQ(losses(0.5, true)[i].accuracy, evaluation[i].accuracy);
    EXPECT_NE(losses(0.5, false)[i].loss, step[i].loss);
    if (GetParam() == DType::kF32) {  // in half precision two logits may tie
      EXPECT_EQ(evaluation[i].accuracy, step[i].accuracy);
    }
  }
}

TEST_P(EvaluatedRun, EndsWithItsTargetAndHasNothingLeftToDo) {
  train::TrainingOptions run = evaluated("target");
  run.target = 0.0;
  for (const size_t count : {1, 0}) {
    Evaluations evaluations;
    train::Training training(run, ignore);
    EXPECT_EQ(training.run({&evaluations}), train::TrainingOutcome::kFinished);
    EXPECT_EQ(evaluations.all.size(), count);
    EXPECT_EQ(training.state().step, 2);
    EXPECT_EQ(train::checkpoint_steps(run.save_path), std::vector<int64_t>{2});
    run.restore_dir = run.save_path;
  }
}

TEST_P(EvaluatedRun, SaysWhenItMissesItsTarget) {
  train::TrainingOptions run = evaluated("missed");
  run.target = 1.0;
  train::Training training(run, ignore);
  EXPECT_EQ(training.run({}), train::TrainingOutcome::kMissedTarget);
  EXPECT_EQ(training.state().step, 12);
  EXPECT_LT(*training.state().best_metric, 1.0);
}

INSTANTIATE_TEST_SUITE_P(DTypes, EvaluatedRun,
                         testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests
