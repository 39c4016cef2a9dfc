#include "train/saver.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "platform/files/own_folder_test.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

struct Saved {
  explicit Saved(const std::filesystem::path& folder)
      : run(small_training(folder), [this](const std::string& line) { notices.push_back(line); }) {}

  std::vector<std::string> notices;
  Run run;
  Saver saver{run};
};

class SaverTest : public platform::OwnFolderTest {};

TEST_F(SaverTest, SavesTheStepThatTheRunStandsAt) {
  Saved saved(folder_ / "run");
  EXPECT_EQ(saved.saver.newest_text(), "No checkpoint had been saved");
  EXPECT_FALSE(saved.saver.is_saved());
  saved.run.state.step = 2;
  saved.saver.save(/*is_last=*/true);
  const std::string path = checkpoint_path(saved.saver.store().folder(), 2).string();
  EXPECT_EQ(saved.notices, std::vector<std::string>{"saved " + path});
  EXPECT_TRUE(saved.saver.is_saved());
  EXPECT_EQ(saved.saver.newest_text(), "The newest checkpoint is " + path);
  saved.run.state.step = 3;
  EXPECT_FALSE(saved.saver.is_saved());
}

TEST_F(SaverTest, BesideTheStepsItSavesWhatWasThereBefore) {
  Saved saved(folder_ / "run");
  saved.run.state = {.step = 2, .samples = 16};
  saved.saver.save(/*is_last=*/false);
  saved.run.state.samples = 99;
  saved.run.step.session().initialize_parameters(7);
  const FoundCheckpoint newest = saved.saver.newest();
  EXPECT_EQ(newest.step, 2);
  EXPECT_EQ(OpenCheckpoint(newest.path).state.samples, 16);
  EXPECT_EQ(saved.notices.size(), 1u);
  saved.saver.finish();  // it is announced once
  EXPECT_EQ(saved.notices.size(), 1u);
}

TEST_F(SaverTest, AFailedSaveIsToldAndDoneAgain) {
  Saved saved(folder_ / "run");
  std::filesystem::remove_all(folder_ / "run");
  saved.run.state.step = 2;
  saved.saver.save(/*is_last=*/false);
  saved.saver.finish();
  ASSERT_EQ(saved.notices.size(), 1u);
  EXPECT_EQ(saved.notices.front().find("cannot "), 0u) << saved.notices.front();
  EXPECT_FALSE(saved.saver.is_saved());
}

TEST_F(SaverTest, ACheckpointCanBeTakenAsLackingSomething) {
  Saved saved(folder_ / "run");
  saved.run.state.step = 2;
  saved.saver.take_as_saved();
  EXPECT_TRUE(saved.saver.is_saved());
  saved.saver.take_as_unsaved();
  EXPECT_FALSE(saved.saver.is_saved());
}

}  // namespace
}  // namespace cloze::train
