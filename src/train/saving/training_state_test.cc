#include "train/saving/training_state.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"

namespace cloze::train {
namespace {

class TrainingStateTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string refusal_of(const std::string& text) const {
    platform::write_file_atomically(path_, text);
    try {
      read_training_state(path_);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  }
  const std::string path_ = testing::TempDir() + "training_state_test.json";
};

TEST_F(TrainingStateTest, ReadsWhatItWrites) {
  const TrainingState state{.step = 7,
                            .total_steps = 100,
                            .samples = int64_t{1} << 40,
                            .tokens = 12345,
                            .epoch = 0.1,
                            .seed = 0xFFFFFFFFFFFFFFFFu,
                            .early_stopping = {.gained = 0.1, .without_gain = 2},
                            .skipped_steps = 2,
                            .loss_scale = {.dynamic = 0x1p20, .good_steps = 17, .overflows = 1},
                            .watch = {.losses = {.count = 5, .mean = 0.1, .variance = 1e-9},
                                      .high_losses = 3,
                                      .skips = 1,
                                      .roll_backs = 2,
                                      .rolled_back_to = 4},
                            .identity = {{"seed", 3}, {"data", "5 records 99aa"}}};
  platform::write_file_atomically(path_, training_state_text(state));
  EXPECT_EQ(read_training_state(path_), state);
}

TEST_F(TrainingStateTest, VersionOneHasNoIdentity) {
  platform::write_file_atomically(
      path_, R"({"schema": "cloze.training_state", "version": 1, "step": 7, "total_steps": 9,
                 "samples": 56, "tokens": 700, "epoch": 0.5, "seed": 3, "config_hash": "abc"})");
  EXPECT_EQ(read_training_state(path_).step, 7);
  EXPECT_TRUE(read_training_state(path_).identity.empty());
  EXPECT_EQ(read_training_state(path_).loss_scale, LossScaleState{});
  EXPECT_EQ(read_training_state(path_).early_stopping, EarlyStoppingState{});
}

TEST_F(TrainingStateTest, RefusalsNameTheFile) {
  EXPECT_EQ(refusal_of("{}").find(path_), 0u);
  EXPECT_NE(refusal_of(R"({"schema": "cloze.training_state", "version": 3})").find("version 3"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"schema": "cloze.training_state", "version": 1})").find("step"),
            std::string::npos);
}

TEST_F(TrainingStateTest, TrainerStateHasTheKeysToolsRead) {
  const std::vector<StepMetrics> history = {{.step = 5, .loss = 2.5}};
  const auto json =
      formats::parse_json(trainer_state_text({.step = 5, .total_steps = 9, .tokens = 3}, history));
  EXPECT_EQ(json->at("global_step"), 5);
  EXPECT_EQ(json->at("max_steps"), 9);
  EXPECT_EQ(json->at("num_input_tokens_seen"), 3);
  EXPECT_EQ(json->at("log_history").at(0).at("loss"), 2.5);
}

TEST_F(TrainingStateTest, TheHistoryOfALongRunIsThinnedEvenly) {
  std::vector<StepMetrics> history;
  size_t most = 0;
  for (int64_t logged = 0; logged < 10 * kMostHistory; ++logged) {
    add_to_history(history, {.step = logged + 1}, logged);
    if (logged < kMostHistory) {
      EXPECT_EQ(std::ssize(history), logged + 1);
    }
    most = std::max(most, history.size());
  }
  EXPECT_EQ(most, static_cast<size_t>(kMostHistory));
  ASSERT_EQ(std::ssize(history), 10 * kMostHistory / 16);
  for (size_t i = 0; i < history.size(); ++i) {
    EXPECT_EQ(history[i].step, static_cast<int64_t>(16 * i + 1));
  }
}

TEST_F(TrainingStateTest, TheHistoryIsReadAsItWas) {
  const std::vector<StepMetrics> history = {
      {.step = 1, .epoch = 0.1, .loss = 2.5, .learning_rate = 1e-4, .gradient_norm = 1.0 / 3},
      {.step = 2, .loss = std::numeric_limits<double>::quiet_NaN()}};
  const std::string text = trainer_state_text({.step = 2}, history);
  platform::write_file_atomically(path_, text);
  EXPECT_EQ(trainer_state_text({.step = 2}, read_trainer_history(path_)), text);
  platform::write_file_atomically(path_, "{}");
  EXPECT_THROW(read_trainer_history(path_), DataError);
}

}  // namespace
}  // namespace cloze::train
