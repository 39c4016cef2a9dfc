// What holds of a run as a whole: when it has come to its end, and how it saves.
#include "train/training.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cloze::train
