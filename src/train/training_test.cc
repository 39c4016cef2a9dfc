// What holds of a run as a whole: when it has come to its end, and how it saves.
#include "train/training.h"

#include <gtest/gtest.h>

#include <memory>

#include "comm/loopback.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

// A signal stops the evaluation after the last step, which the resumed run makes up for.
TEST(Training, WithoutItsLastScoreItIsNotFinished) {
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_training_test";
  fs::remove_all(folder);
  TrainingOptions options = small_training(folder);
  options.evaluate = [](engine::Session&, int64_t) { return std::nullopt; };
  EXPECT_EQ(Training(options, [](const std::string&) {}).run({}),
            TrainingOutcome::kStoppedBySignal);
  EXPECT_EQ(checkpoint_steps(folder), std::vector<int64_t>{2});

  options.restore_dir = folder;
  int evaluations = 0;
  options.evaluate = [&](engine::Session&, int64_t) {
    ++evaluations;
    return std::optional(0.5);
  };
  for (int i = 0; i < 2; ++i) {
    Training resumed(options, [](const std::string&) {});
    EXPECT_EQ(resumed.run({}), TrainingOutcome::kFinished);
    EXPECT_EQ(resumed.state().best_metric, 0.5);
  }
  EXPECT_EQ(evaluations, 1);
  fs::remove_all(folder);
}

// Scores of other data, or from before a run without evaluations, are not compared with.
TEST(Training, OnlyScoresOfTheSameDataCount) {
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_training_test";
  fs::remove_all(folder);
  TrainingOptions options = small_training(folder);
  std::vector<std::string> notices;
  double score = 0.75;
  const auto best_of = [&](const std::string& data, int64_t steps) {
    options.evaluated_on = data;
    options.evaluate = [&](engine::Session&, int64_t) { return std::optional(score); };
    if (data.empty()) options.evaluate = {};
    options.num_steps = steps;
    notices.clear();
    Training training(options, [&](const std::string& line) { notices.push_back(line); });
    EXPECT_EQ(training.run({}), TrainingOutcome::kFinished);
    options.restore_dir = folder;
    return training.state().best_metric;
  };
  EXPECT_EQ(best_of("dev", 2), 0.75);
  score = 0.5;
  EXPECT_EQ(best_of("dev", 4), 0.75);
  EXPECT_EQ(best_of("other", 4), 0.5) << "a finished run is scored again";
  EXPECT_EQ(
      notices.front(),
      "the score 0.7500 of step 2 no longer counts: it is of other data, or scored in another "
      "way");
  EXPECT_EQ(best_of("other", 6), 0.5);
  EXPECT_EQ(best_of("", 8), std::nullopt);
  EXPECT_EQ(notices.front(),
            "the score 0.5000 of step 4 no longer counts: from here on nothing is evaluated");
  EXPECT_EQ(read_training_state(checkpoint_path(folder, 8) / kStateName).best_metric, std::nullopt);
  fs::remove_all(folder);
}

// Interrupted between its last step and the score: the score, which is not the best, is saved.
TEST(Training, AScoreThatIsMadeUpForIsSaved) {
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_training_test";
  fs::remove_all(folder);
  TrainingOptions options = small_training(folder);
  options.evaluation_steps = {1};
  options.evaluate = [](engine::Session&, int64_t step) {
    return step == 1 ? std::optional(0.5) : std::nullopt;
  };
  EXPECT_EQ(Training(options, [](const std::string&) {}).run({}),
            TrainingOutcome::kStoppedBySignal);
  options.restore_dir = folder;
  int evaluations = 0;
  options.evaluate = [&](engine::Session&, int64_t) {
    ++evaluations;
    return std::optional(0.25);
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Training(options, [](const std::string&) {}).run({}), TrainingOutcome::kFinished);
  }
  EXPECT_EQ(evaluations, 1);
  fs::remove_all(folder);
}

TEST(Training, AResumedRunRemembersWhatItsEvaluationsGained) {
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_training_test";
  fs::remove_all(folder);
  TrainingOptions options = small_training(folder);
  options.evaluation_steps = {1, 2, 3, 4, 5};
  options.early_stopping.patience = 3;
  std::vector<int64_t> evaluated;
  options.evaluate = [&](engine::Session&, int64_t step) {
    evaluated.push_back(step);
    return std::optional(1.0 / static_cast<double>(step));
  };
  const auto outcome = [&](int64_t num_steps) {
    options.num_steps = num_steps;
    const TrainingOutcome outcome = Training(options, [](const std::string&) {}).run({});
    options.restore_dir = folder;
    return outcome;
  };
  EXPECT_EQ(outcome(2), TrainingOutcome::kFinished);
  EXPECT_EQ(outcome(6), TrainingOutcome::kStoppedEarly);
  EXPECT_EQ(evaluated, (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(outcome(6), TrainingOutcome::kStoppedEarly) << "and does not go on";
  EXPECT_EQ(std::ssize(evaluated), 4);
  options.early_stopping.patience = 4;
  EXPECT_EQ(outcome(6), TrainingOutcome::kStoppedEarly) << "but with more patience it does";
  EXPECT_EQ(evaluated.back(), 5);
  EXPECT_EQ(read_training_state(checkpoint_path(folder, 5) / kStateName).best_step, 1);
  fs::remove_all(folder);
}

TEST(Training, SavesFromACopyUnlessStatesAreDivided) {
  TrainingStepOptions options;
  EXPECT_TRUE(saves_from_copy(options));
  options.shards_states = true;
  EXPECT_TRUE(saves_from_copy(options)) << "one process has nobody to divide them with";
  comm::run_loopback(2, [&](comm::Communicator& ranks) {
    TrainingStepOptions shared;
    shared.ranks = &ranks;
    EXPECT_TRUE(saves_from_copy(shared));
    shared.shards_states = true;
    EXPECT_FALSE(saves_from_copy(shared));
  });
}

// A run whose loss is finite and mad after its first step, which has a rate of 1.
struct MadRun {
  explicit MadRun(WatchPolicy policy, int64_t num_steps, double rate = 1.0) {
    fs::remove_all(folder);
    TrainingOptions options = small_training(folder);
    options.num_steps = num_steps;
    options.schedule = {.name = "constant", .base_learning_rate = rate};
    options.watch.on_loss_spike = WatchPolicy::kIgnore;
    options.watch.on_high_loss = policy;
    training = std::make_unique<Training>(std::move(options), [this](const std::string& line) {
      if (!line.starts_with("saved ")) notices.push_back(line);
    });
    try {
      training->run({});
    } catch (const DivergenceError& error) {
      message = error.what();
    }
  }
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_mad_run_test";
  std::vector<std::string> notices;
  std::string message;
  std::unique_ptr<Training> training;
};

TEST(Training, ALossThatStaysAboveAnUntrainedModelsIsTold) {
  const MadRun run(WatchPolicy::kWarn, 40);
  ASSERT_EQ(run.notices.size(), 1u);
  EXPECT_EQ(run.notices[0].find("step 17: the loss "), 0u) << run.notices[0];
  EXPECT_NE(
      run.notices[0].find(" is worse than an untrained model's, 3.79, and has been since step "
                          "2. Lower base_learning_rate, or set max_grad_norm"),
      std::string::npos)
      << run.notices[0];
  EXPECT_EQ(run.training->high_loss_at_end(),
            "the loss of the last 39 steps was worse than an untrained model's, 3.79: the run has "
            "diverged, and its model is of no use. Lower base_learning_rate, or set max_grad_norm");
  EXPECT_EQ(run.message, "");
}

TEST(Training, ALossThatStaysAboveAnUntrainedModelsMayEndTheRun) {
  const MadRun run(WatchPolicy::kStop, 40);
  EXPECT_EQ(run.message.find("step 17: the loss "), 0u) << run.message;
  EXPECT_TRUE(run.message.ends_with(
      ", and has been since step 2. No checkpoint had been saved. Lower base_learning_rate, or set "
      "max_grad_norm"))
      << run.message;
  EXPECT_TRUE(checkpoint_steps(run.folder).empty());
}

TEST(Training, AHighLossIsIgnoredOnRequest) {
  const MadRun run(WatchPolicy::kIgnore, 40);
  EXPECT_TRUE(run.notices.empty());
  EXPECT_EQ(run.training->high_loss_at_end(), std::nullopt);
}

TEST(Training, AShortRunTellsOfAHighLossAtItsEnd) {
  const MadRun run(WatchPolicy::kStop, 4);
  EXPECT_TRUE(run.notices.empty() && run.message.empty());
  EXPECT_NE(run.training->high_loss_at_end()->find("the loss of the last 3 steps was worse"),
            std::string::npos);
}

TEST(Training, NothingIsToldOfAModelThatStaysUntrained) {
  const MadRun run(WatchPolicy::kStop, 40, 0.0);
  EXPECT_EQ(run.message, "");
  EXPECT_EQ(run.training->high_loss_at_end(), std::nullopt);
}

}  // namespace
}  // namespace cloze::train
