#include "train/saving/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "train/saving/manifest.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  // A tiny run at `step`, its one weight telling the step.
  CheckpointContent content(int64_t step) {
    weight_ = {static_cast<float>(step), 0.5f};
    moment_ = {0.25f, -1.0f};
    return {.model = {source("weight", weight_)},
            .optimizer = {source("weight.first_moment", moment_)},
            .state = {.step = step, .total_steps = 100, .samples = step * 8, .seed = 1234},
            .files = [] {
              return std::vector<TextFile>{{"config.json", "{}\n"}};
            }};
  }
  static formats::TensorSource source(const char* name, const std::vector<float>& values) {
    return formats::source_of({name, DType::kF32, Shape{static_cast<int64_t>(values.size())},
                               std::as_bytes(std::span(values))});
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void damage(int64_t step) const {
    const fs::path path = folder_ / ("checkpoint-" + std::to_string(step)) / "model.safetensors";
    std::string bytes = platform::read_file(path);
    bytes.back() ^= 1;
    platform::write_file_atomically(path, bytes);
  }

  const fs::path folder_ = testing::TempDir() + "checkpoint_test";
  std::vector<float> weight_;
  std::vector<float> moment_;
};

TEST_F(CheckpointTest, WhatIsSavedIsRead) {
  CheckpointStore store(folder_, 5);
  const fs::path path = store.save(content(10));
  EXPECT_EQ(path, folder_ / "checkpoint-10");
  const FoundCheckpoint found = find_checkpoint(folder_);
  EXPECT_EQ(found.path, path);
  EXPECT_EQ(found.step, 10);
  const OpenCheckpoint open(found.path);
  EXPECT_EQ(open.state, content(10).state);
  EXPECT_EQ(std::memcmp(open.model.find("weight")->bytes.data(), weight_.data(), 8), 0);
  EXPECT_EQ(
      std::memcmp(open.optimizer.find("weight.first_moment")->bytes.data(), moment_.data(), 8), 0);
  EXPECT_EQ(find_checkpoint(path).step, 10);
  EXPECT_EQ(find_checkpoint(path.string() + "/").step, 10);
}

TEST_F(CheckpointTest, KeepsTheNewest) {
  CheckpointStore store(folder_, 2);
  for (const int64_t step : {5, 10, 100}) store.save(content(step));
  EXPECT_EQ(names(), (std::vector<std::string>{"checkpoint-10", "checkpoint-100"}));
  EXPECT_EQ(checkpoint_steps(folder_), (std::vector<int64_t>{100, 10}));
}

TEST_F(CheckpointTest, KeepsTheBestOnlyWhereThereIsOne) {
  CheckpointStore store(folder_, 1);
  store.save(content(0));
  store.save(content(5));
  EXPECT_EQ(names(), std::vector<std::string>{"checkpoint-5"});
  CheckpointContent later = content(7);
  later.state.best_metric = 0.5;
  later.state.best_step = 5;
  store.save(later);
  EXPECT_EQ(names(), (std::vector<std::string>{"checkpoint-5", "checkpoint-7"}));
}

TEST_F(CheckpointTest, OneStoreAtATimeHasAFolder) {
  {
    const CheckpointStore store(folder_, 1);
    EXPECT_THROW(CheckpointStore(folder_, 1), EnvironmentError);
  }
  EXPECT_NO_THROW(CheckpointStore(folder_, 1));
}

TEST_F(CheckpointTest, AdoptsOneOfAnotherFolder) {
  EXPECT_TRUE(checkpoint_steps(folder_).empty());
  const fs::path from = CheckpointStore(folder_ / "from", 0).save(content(3));
  CheckpointStore store(folder_ / "to", 0);
  store.adopt(from, 3);
  store.adopt(from, 3);
  EXPECT_EQ(checkpoint_steps(store.folder()), std::vector<int64_t>{3});
  EXPECT_EQ(find_checkpoint(folder_ / "to").step, 3);
  platform::write_file_atomically(folder_ / "to" / "checkpoint-3" / "model.safetensors", "damaged");
  store.adopt(from, 3);
  EXPECT_EQ(find_damage(folder_ / "to" / "checkpoint-3"), std::nullopt);
}

TEST_F(CheckpointTest, KeepsAllWhenToldSo) {
  CheckpointStore store(folder_, 0);
  for (const int64_t step : {1, 2, 3}) store.save(content(step));
  EXPECT_EQ(checkpoint_steps(folder_).size(), 3u);
}

TEST_F(CheckpointTest, LaterStepsTakeNoPlaceFromGoodOnes) {
  CheckpointStore store(folder_, 2);
  for (const int64_t step : {90, 100, 50, 60, 70}) store.save(content(step));
  EXPECT_EQ(checkpoint_steps(folder_), (std::vector<int64_t>{100, 90, 70, 60}));
}

TEST_F(CheckpointTest, SavingAStepAgainReplacesIt) {
  CheckpointStore store(folder_, 5);
  store.save(content(10));
  CheckpointContent again = content(10);
  again.state.samples = 999;
  store.save(again);
  EXPECT_EQ(OpenCheckpoint(folder_ / "checkpoint-10").state.samples, 999);
  EXPECT_EQ(names(), std::vector<std::string>{"checkpoint-10"});
}

TEST_F(CheckpointTest, LeftoversOfAKilledRunAreRemovedOrRecovered) {
  CheckpointStore(folder_, 5).save(content(10));
  fs::rename(folder_ / "checkpoint-10", folder_ / ".old-checkpoint-10-77-0");
  for (const char* name : {".tmp-checkpoint-20-77-1", ".trash-checkpoint-5-77-2", "notes"}) {
    fs::create_directories(folder_ / name / "inside");
  }
  CheckpointStore(folder_, 5);
  EXPECT_EQ(names(), (std::vector<std::string>{"checkpoint-10", "notes"}));
  EXPECT_EQ(find_checkpoint(folder_).step, 10);
}

// Killed between two renames: the newest is the one that was to be replaced.
TEST_F(CheckpointTest, AReplacementThatWasCutOffIsUndoneBeforeOneIsChosen) {
  for (const int64_t step : {10, 20}) CheckpointStore(folder_, 5).save(content(step));
  fs::rename(folder_ / "checkpoint-20", folder_ / ".old-checkpoint-20-77-0");
  {
    const platform::FolderLock of_a_live_run(folder_);
    EXPECT_EQ(find_checkpoint(folder_).step, 10);
  }
  EXPECT_EQ(find_checkpoint(folder_).step, 20);
}

TEST_F(CheckpointTest, FallsBackToAnOlderOneAndSaysWhy) {
  CheckpointStore store(folder_, 5);
  for (const int64_t step : {10, 20, 30}) store.save(content(step));
  damage(30);
  fs::remove(folder_ / "checkpoint-20" / kManifestName);
  const FoundCheckpoint found = find_checkpoint(folder_);
  EXPECT_EQ(found.step, 10);
  ASSERT_EQ(found.skipped.size(), 2u);
  EXPECT_EQ(found.skipped[0], "checkpoint-30: the checksum of model.safetensors is wrong");
  EXPECT_EQ(found.skipped[1], "checkpoint-20: it has no manifest.json");
}

TEST_F(CheckpointTest, InferenceDoesWithoutTheOptimizersState) {
  CheckpointStore store(folder_, 5);
  for (const int64_t step : {10, 20}) store.save(content(step));
  const fs::path optimizer = folder_ / "checkpoint-20" / "optimizer.safetensors";
  std::string bytes = platform::read_file(optimizer);
  bytes.back() ^= 1;
  platform::write_file_atomically(optimizer, bytes);
  EXPECT_EQ(find_checkpoint(folder_).step, 10);
  EXPECT_EQ(find_checkpoint(folder_, CheckpointUse::kInference).step, 20);
  fs::remove(optimizer);
  EXPECT_EQ(find_checkpoint(folder_, CheckpointUse::kInference).step, 20);
  damage(20);
  EXPECT_EQ(find_checkpoint(folder_, CheckpointUse::kInference).step, 10);
}

TEST_F(CheckpointTest, OneThatWasFoundIsNotReadAgain) {
  CheckpointStore(folder_ / "run", 5).save(content(10));
  CheckpointStore(folder_ / "other", 5).save(content(20));
  const FoundCheckpoint found = find_checkpoint(folder_ / "run");
  fs::remove(folder_ / "run" / "checkpoint-10" / kManifestName);
  EXPECT_THROW(checkpoint_in(folder_ / "run", std::nullopt), DataError);
  EXPECT_EQ(checkpoint_in(folder_ / "run", found).step, 10);
  EXPECT_EQ(checkpoint_in(folder_ / "run/", found).step, 10);
  EXPECT_EQ(checkpoint_in(found.path, found).step, 10);
  EXPECT_EQ(checkpoint_in(folder_ / "other", found).step, 20);
  EXPECT_THROW(checkpoint_in(folder_ / "missing", found), UserError);
}

TEST_F(CheckpointTest, RefusesWhenAllAreDamagedOrNoneIsThere) {
  EXPECT_THROW(find_checkpoint(folder_), UserError);
  CheckpointStore store(folder_, 5);
  EXPECT_THROW(find_checkpoint(folder_), UserError);
  store.save(content(10));
  damage(10);
  EXPECT_THROW(find_checkpoint(folder_), DataError);
}

TEST_F(CheckpointTest, RefusesBeforeWritingWhenSpaceIsShort) {
  CheckpointStore store(folder_, 1);
  store.save(content(10));
  CheckpointContent huge = content(20);
  // Never read: the check comes first.
  huge.model[0].shape = Shape{int64_t{1} << 58};
  try {
    store.save(huge);
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("checkpoint-20"), std::string::npos) << text;
    EXPECT_NE(text.find("it needs 1319413953331 MiB"), std::string::npos) << text;
  }
  EXPECT_EQ(names(), std::vector<std::string>{"checkpoint-10"});
}

TEST_F(CheckpointTest, AFailedSaveLeavesTheOldOnesAndNothingElse) {
  CheckpointStore store(folder_, 1);
  store.save(content(10));
  CheckpointContent broken = content(20);
  broken.files = [] { return std::vector<TextFile>{{"model.safetensors/file", "text"}}; };
  try {
    store.save(broken);
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("older checkpoints are untouched"), std::string::npos);
  }
  EXPECT_EQ(names(), std::vector<std::string>{"checkpoint-10"});
  EXPECT_EQ(find_damage(folder_ / "checkpoint-10"), std::nullopt);
}

}  // namespace
}  // namespace cloze::train
