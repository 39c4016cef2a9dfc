#include "train/evaluator.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "platform/files/own_folder_test.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

class EvaluatorTest : public platform::OwnFolderTest {
 protected:
  // Of 9 steps; scores are given one after the other.
  TrainingOptions options(std::vector<std::optional<double>> scores = {}) const {
    TrainingOptions options = small_training(folder_);
    options.num_steps = 9;
    options.evaluation_steps = {3, 6};
    options.evaluated_on = "questions";
    options.evaluate = [scores, next = size_t{0}](engine::Session&, int64_t) mutable {
      return scores.at(next++);
    };
    return options;
  }
  Notice notice() {
    return [this](const std::string& line) { notices_.push_back(line); };
  }

  std::vector<std::string> notices_;
};

TEST_F(EvaluatorTest, IsDueAfterItsStepsAndTheLast) {
  train::Run run(options(), notice());
  const Evaluator evaluator(run);
  std::vector<int64_t> due;
  for (run.state.step = 0; run.state.step <= 9; ++run.state.step) {
    if (evaluator.is_due()) due.push_back(run.state.step);
  }
  EXPECT_EQ(due, (std::vector<int64_t>{3, 6, 9}));
  run.state.step = 3;
  EXPECT_EQ(evaluator.next_step(), 6);
  EXPECT_TRUE(evaluator.is_behind());
  run.state.evaluated_step = 3;
  EXPECT_FALSE(evaluator.is_behind());
  run.state.step = 6;
  EXPECT_EQ(evaluator.next_step(), std::nullopt);
}

TEST_F(EvaluatorTest, KeepsTheBestScore) {
  using enum Evaluator::Score;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  train::Run run(options({0.5, 0.5, kNan, std::nullopt, 0.6}), notice());
  Evaluator evaluator(run);
  std::vector<Evaluator::Score> scores;
  for (run.state.step = 1; run.state.step <= 5; ++run.state.step) {
    scores.push_back(evaluator.evaluate());
    const bool is_scored = scores.back() != kNone;
    EXPECT_EQ(run.state.evaluated_step, run.state.step - (is_scored ? 0 : 1));
  }
  EXPECT_EQ(scores, (std::vector{kBest, kNotBest, kNotBest, kNone, kBest}));
  EXPECT_EQ(run.state.best_metric, 0.6);
  EXPECT_EQ(run.state.best_step, 5);
  EXPECT_EQ(notices_, std::vector<std::string>{"the score at step 3 is nan, which cannot be "
                                               "compared"});
}

TEST_F(EvaluatorTest, TheOutcomeDependsOnTargetAndLastScore) {
  TrainingOptions with_target = options();
  with_target.target = 0.7;
  train::Run run(with_target, notice());
  const Evaluator evaluator(run);
  TrainingState& state = run.state;
  EXPECT_EQ(evaluator.outcome(), TrainingOutcome::kStoppedBySignal);
  state.step = 9;
  EXPECT_EQ(evaluator.outcome(), TrainingOutcome::kStoppedBySignal) << "not scored";
  state.evaluated_step = 9;
  state.best_metric = 0.6;
  EXPECT_EQ(evaluator.outcome(), TrainingOutcome::kMissedTarget);
  state.step = 3;
  state.best_metric = 0.7;
  EXPECT_TRUE(evaluator.has_reached_target());
  EXPECT_EQ(evaluator.outcome(), TrainingOutcome::kFinished);
}

TEST_F(EvaluatorTest, ARunWithoutGainStopsEarly) {
  TrainingOptions patient = options({0.5, 0.5, 0.4});
  patient.early_stopping.patience = 2;
  train::Run run(patient, notice());
  Evaluator evaluator(run);
  for (const int64_t step : {3, 6, 7}) {
    EXPECT_FALSE(evaluator.has_stopped_early());
    run.state.step = step;
    evaluator.evaluate();
  }
  EXPECT_TRUE(evaluator.has_stopped_early());
  EXPECT_EQ(evaluator.outcome(), TrainingOutcome::kStoppedEarly);
  EXPECT_EQ(run.state.best_step, 3);
  run.state.step = run.state.evaluated_step = 9;
  EXPECT_EQ(evaluator.outcome(), TrainingOutcome::kFinished) << "all steps are done";
}

TEST_F(EvaluatorTest, ScoresOfOtherDataNoLongerCount) {
  train::Run run(options(), notice());
  Evaluator evaluator(run);
  run.state = {.step = 3,
               .best_metric = 0.5,
               .best_step = 2,
               .evaluated_on = "questions",
               .early_stopping = {.gained = 0.5, .without_gain = 1}};
  EXPECT_FALSE(evaluator.drop_other_scores());
  EXPECT_EQ(run.state.best_metric, 0.5);
  run.state.evaluated_on = "answers";
  EXPECT_TRUE(evaluator.drop_other_scores());
  EXPECT_EQ(run.state.best_metric, std::nullopt);
  EXPECT_EQ(run.state.early_stopping, EarlyStoppingState{});
  EXPECT_EQ(run.state.evaluated_on, "questions");
  EXPECT_EQ(notices_.back(),
            "the score 0.5000 of step 2 no longer counts: it is of other data, or scored in "
            "another way");
}

}  // namespace
}  // namespace cloze::train
