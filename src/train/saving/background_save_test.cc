#include "train/saving/background_save.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "base/error.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

class BackgroundSaveTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // Of a run whose weights are `values_`. It is written once go_on_ is set.
  CheckpointContent content(int64_t step) {
    const formats::TensorView tensor{"weight", DType::kF32, Shape{2},
                                     std::as_bytes(std::span(values_))};
    return {.model = {formats::source_of(tensor)},
            .optimizer = {formats::source_of(tensor)},
            .state = {.step = step, .total_steps = 100},
            .files = [this] {
              go_on_.get_future().wait();
              return std::vector<TextFile>{{file_name_, "{}"}};
            }};
  }

  const fs::path folder_ = testing::TempDir() + "background_save_test";
  std::array<float, 2> values_{1.0f, 2.0f};
  std::promise<void> go_on_;
  std::string file_name_ = "config.json";
};

TEST_F(BackgroundSaveTest, SavesWhatWasThereWhenItStarted) {
  CheckpointStore store(folder_, 1);
  BackgroundSave background(store);
  EXPECT_EQ(background.outcome(), std::nullopt);
  background.start(content(7));
  values_ = {-1.0f, -2.0f};
  EXPECT_EQ(background.outcome(), std::nullopt);
  EXPECT_TRUE(checkpoint_steps(folder_).empty());
  go_on_.set_value();
  const auto path = background.wait();
  EXPECT_EQ(path, folder_ / "checkpoint-7");
  EXPECT_EQ(background.wait(), std::nullopt) << "an outcome is taken once";
  const OpenCheckpoint saved(path.value());
  const std::array<float, 2> expected{1.0f, 2.0f};
  for (const formats::SafetensorsFile* file : {&saved.model, &saved.optimizer}) {
    EXPECT_EQ(std::memcmp(file->find("weight")->bytes.data(), expected.data(), 8), 0);
  }
}

TEST_F(BackgroundSaveTest, TheOutcomeIsThereOnceItIsSaved) {
  CheckpointStore store(folder_, 1);
  BackgroundSave background(store);
  go_on_.set_value();
  background.start(content(7));
  std::optional<fs::path> path;
  while (!(path = background.outcome())) std::this_thread::yield();
  EXPECT_EQ(path, folder_ / "checkpoint-7");
}

TEST_F(BackgroundSaveTest, AFailureIsThrownWhenTheOutcomeIsTaken) {
  CheckpointStore store(folder_, 1);
  BackgroundSave background(store);
  file_name_ = "model.safetensors/file";
  go_on_.set_value();
  background.start(content(7));
  EXPECT_THROW(background.wait(), EnvironmentError);
  file_name_ = "config.json";
  go_on_ = std::promise<void>();
  go_on_.set_value();
  background.start(content(8));
  EXPECT_EQ(background.wait(), folder_ / "checkpoint-8");
}

TEST_F(BackgroundSaveTest, WhatIsStartedComesToItsEnd) {
  CheckpointStore store(folder_, 1);
  go_on_.set_value();
  BackgroundSave(store).start(content(7));
  EXPECT_EQ(find_checkpoint(folder_).step, 7);
}

}  // namespace
}  // namespace cloze::train
