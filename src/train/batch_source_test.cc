#include "train/batch_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "train/training.h"

namespace cloze::train {
namespace {

using std::chrono::seconds;

// Counts the samples that are read, and how many threads read at a time. A reader waits for the
// second one, as long as `patience` allows.
class WatchedDataset final : public data::Dataset {
 public:
  explicit WatchedDataset(std::chrono::milliseconds patience) : patience_(patience) {}
  int64_t size() const override { return 1000; }
  std::string fingerprint() const override { return "watched"; }
  data::Sample sample(int64_t index, int64_t) const override {
    std::unique_lock lock(mutex_);
    most_readers_ = std::max(most_readers_, ++readers_);
    changed_.notify_all();
    changed_.wait_for(lock, patience_, [&] { return most_readers_ > 1; });
    --readers_;
    ++reads_;
    changed_.notify_all();
    return {.input_ids = {2, static_cast<int32_t>(index), 3},
            .token_type_ids = {0, 0, 0},
            .masked_positions = {1},
            .masked_labels = {7}};
  }

  int most_readers() const {
    const std::lock_guard lock(mutex_);
    return most_readers_;
  }
  // Whether so many samples are read within that time.
  bool reads(int64_t count, std::chrono::milliseconds time) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return reads_ >= count; });
  }

 private:
  std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int readers_ = 0;
  mutable int most_readers_ = 0;
  mutable int64_t reads_ = 0;
};

TrainingOptions options_for(std::shared_ptr<const data::Dataset> dataset) {
  TrainingOptions options;
  options.step.capacity = {.tokens = 24, .sequences = 8, .predictions = 8};
  options.dataset = std::move(dataset);
  options.global_batch_size = 8;
  return options;
}

TEST(BatchSource, ReadsInTheThreadsOfTheRun) {
  for (const int threads : {1, 2}) {
    const auto dataset = std::make_shared<WatchedDataset>(seconds(threads == 1 ? 0 : 2));
    TrainingOptions options = options_for(dataset);
    options.loader_threads = threads;
    BatchSource(options, 0).next(3);
    EXPECT_EQ(dataset->most_readers(), threads);
  }
}

TEST(BatchSource, KeepsToTheMemoryOfTheRun) {
  for (const bool is_bounded : {false, true}) {
    const auto dataset = std::make_shared<WatchedDataset>(seconds(0));
    TrainingOptions options = options_for(dataset);
    if (is_bounded) options.loader_memory = 0;  // one batch is made ahead, whatever its size
    BatchSource source(options, 0);
    source.next(1);
    constexpr int64_t kOneAhead = 2 * 8;
    EXPECT_TRUE(dataset->reads(kOneAhead, seconds(20)));
    EXPECT_NE(
        dataset->reads(kOneAhead + 1, is_bounded ? std::chrono::milliseconds(50) : seconds(20)),
        is_bounded);
  }
}

}  // namespace
}  // namespace cloze::train
