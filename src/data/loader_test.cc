#include "data/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/error.h"

namespace cloze::data {
namespace {

// Samples of i % 5 + 3 tokens, all of id i; sample `broken` throws.
class NumberedDataset final : public Dataset {
 public:
  explicit NumberedDataset(int64_t size, int64_t broken = -1) : size_(size), broken_(broken) {}
  int64_t size() const override { return size_; }
  std::string fingerprint() const override { return "numbered"; }
  Sample sample(int64_t index, int64_t epoch) const override {
    ++reads_;
    if (index == broken_) throw DataError("sample is broken");
    const auto length = static_cast<size_t>(index % 5 + 3);
    return {.input_ids = std::vector<int32_t>(length, static_cast<int32_t>(index)),
            .token_type_ids = std::vector<int32_t>(length, 0),
            .masked_positions = {1},
            .masked_labels = {static_cast<int32_t>(index)},
            .next_sentence_label = static_cast<int32_t>(epoch)};
  }
  int64_t reads() const { return reads_; }

 private:
  int64_t size_;
  int64_t broken_;
  mutable std::atomic<int64_t> reads_{0};
};

LoaderOptions options_for(std::shared_ptr<const Dataset> dataset, int64_t first_step = 0) {
  return {.dataset = std::move(dataset),
          .global_batch_size = 8,
          .capacity = {.tokens = 20, .sequences = 8, .predictions = 8},
          .seed = 11,
          .first_step = first_step,
          .prefetch_steps = 3};
}

void expect_equal(const StepBatch& a, const StepBatch& b) {
  ASSERT_EQ(a.micro_batches.size(), b.micro_batches.size());
  for (size_t i = 0; i < a.micro_batches.size(); ++i) {
    EXPECT_EQ(a.micro_batches[i].input_ids, b.micro_batches[i].input_ids);
    EXPECT_EQ(a.micro_batches[i].sample_ids, b.micro_batches[i].sample_ids);
    EXPECT_EQ(a.micro_batches[i].masked_positions, b.micro_batches[i].masked_positions);
    EXPECT_EQ(a.micro_batches[i].masked_labels, b.micro_batches[i].masked_labels);
  }
}

// 120 tokens of 24-token samples fill at most seven micro-batches of 20.
TEST(LoaderTest, SaysWhatItHoldsAtMost) {
  LoaderOptions options = options_for(nullptr);
  options.global_batch_size = 5;
  constexpr int64_t kMicroBatch = 4 * (4 * 20 + 8 * 8 + 1 + 4 * 8);
  constexpr int64_t kSamples = 5 * 24 * 8;
  EXPECT_EQ(most_bytes(options, 24), (3 + 1) * 7 * kMicroBatch + kSamples);
  options.memory_bytes = 2 * 7 * kMicroBatch;
  EXPECT_EQ(most_bytes(options, 24), (2 + 1) * 7 * kMicroBatch + kSamples);
  options.memory_bytes = 1;
  EXPECT_EQ(most_bytes(options, 24), (1 + 1) * 7 * kMicroBatch + kSamples);
}

TEST(LoaderTest, ALoaderStartedAtAnyStepContinuesTheRun) {
  const auto dataset = std::make_shared<NumberedDataset>(30);
  Loader from_zero(options_for(dataset));
  for (int64_t step = 0; step < 12; ++step) {
    const StepBatch reached = from_zero.next();
    Loader started_here(options_for(dataset, step));
    expect_equal(started_here.next(), reached);
  }
}

TEST(LoaderTest, EverySampleOnceInEachEpochAcrossTheBorders) {
  const auto dataset = std::make_shared<NumberedDataset>(30);  // 30 is no multiple of 8
  Loader loader(options_for(dataset));
  std::map<int32_t, int> uses;
  for (int step = 0; step < 15; ++step) {  // 120 samples: four epochs
    const StepBatch batch = loader.next();
    EXPECT_EQ(batch.num_sequences, 8);
    for (const MicroBatch& micro_batch : batch.micro_batches) {
      for (int64_t p = 0; p < micro_batch.num_predictions; ++p) {
        ++uses[micro_batch.masked_labels[static_cast<size_t>(p)]];
      }
    }
  }
  ASSERT_EQ(uses.size(), 30u);
  for (const auto& [label, count] : uses) EXPECT_EQ(count, 4) << label;
}

TEST(LoaderTest, ABatchLargerThanTheDataSetRunsThroughSeveralEpochs) {
  LoaderOptions options = options_for(std::make_shared<NumberedDataset>(3));
  EXPECT_EQ(load_step(options, 5).num_sequences, 8);
}

TEST(LoaderTest, ErrorsSurfaceAtTheirStepAndAgain) {
  // With 80 samples and 8 a step, sample 42 comes up in exactly one of the first ten steps.
  Loader loader(options_for(std::make_shared<NumberedDataset>(80, 42)));
  int good_steps = 0;
  try {
    for (; good_steps < 10; ++good_steps) loader.next();
    FAIL() << "the broken sample was never met";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "sample is broken");
  }
  const LoaderOptions broken = options_for(std::make_shared<NumberedDataset>(80, 42));
  for (int step = 0; step < good_steps; ++step) EXPECT_NO_THROW(load_step(broken, step));
  EXPECT_THROW(load_step(broken, good_steps), DataError);
  EXPECT_THROW(loader.next(), DataError);
}

TEST(LoaderTest, DataSetsAreToldTheEpoch) {
  const LoaderOptions options = options_for(std::make_shared<NumberedDataset>(30));
  const std::vector<Sample> samples = step_samples(options, 3);  // samples 24 to 31
  for (int i = 0; i < 8; ++i) EXPECT_EQ(samples[i].next_sentence_label, i < 6 ? 0 : 1);
}

TEST(LoaderTest, SeveralThreadsGiveTheStepsInOrder) {
  LoaderOptions options = options_for(std::make_shared<NumberedDataset>(200));
  const LoaderOptions alone = options;
  options.threads = 4;
  Loader loader(options);
  for (int64_t step = 0; step < 50; ++step) expect_equal(loader.next(), load_step(alone, step));
}

TEST(LoaderTest, MemoryBoundsWhatIsReadAhead) {
  const auto dataset = std::make_shared<NumberedDataset>(1000);
  LoaderOptions options = options_for(dataset);
  options.prefetch_steps = 100;
  options.memory_bytes = 1;  // less than one batch: never more than one is there
  Loader loader(options);
  for (int step = 0; step < 3; ++step) loader.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(dataset->reads(), 8 * (3 + 1));
}

TEST(LoaderTest, ReadsNoFurtherAheadThanAsked) {
  const auto dataset = std::make_shared<NumberedDataset>(1000);
  {
    Loader loader(options_for(dataset));
    loader.next();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_GE(loader.waited_seconds(), 0.0);
  }  // the destructor stops the loader
  EXPECT_LE(dataset->reads(), 8 * (1 + 3 + 1));
}

// Reading takes 80 ms per batch, and there is room for 100 batches.
TEST(LoaderTest, StopsAfterTheBatchesInWork) {
  class SlowDataset final : public Dataset {
   public:
    int64_t size() const override { return numbered_.size(); }
    std::string fingerprint() const override { return "slow"; }
    Sample sample(int64_t index, int64_t epoch) const override {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return numbered_.sample(index, epoch);
    }
    int64_t reads() const { return numbered_.reads(); }

   private:
    NumberedDataset numbered_{1000};
  };
  const auto dataset = std::make_shared<SlowDataset>();
  LoaderOptions options = options_for(dataset);
  options.prefetch_steps = 100;
  Loader(options).next();
  EXPECT_LT(dataset->reads(), 8 * 50);
}

TEST(LoaderTest, NonsenseSizesAreRefused) {
  const auto dataset = std::make_shared<NumberedDataset>(10);
  LoaderOptions no_batch = options_for(dataset);
  no_batch.global_batch_size = 0;
  EXPECT_THROW(Loader{no_batch}, UserError);
  EXPECT_THROW(Loader{options_for(std::make_shared<NumberedDataset>(0))}, UserError);
  EXPECT_THROW(Loader{options_for(dataset, -1)}, UserError);
}

// Samples that hold a text of their own and one of `shared` others.
class SharingDataset final : public Dataset {
 public:
  SharingDataset(int64_t size, int32_t shared) : size_(size), shared_(shared) {}
  int64_t size() const override { return size_; }
  std::string fingerprint() const override { return "sharing"; }
  Sample sample(int64_t index, int64_t /*epoch*/) const override {
    return {.input_ids = {static_cast<int32_t>(index)}, .token_type_ids = {0}};
  }
  std::vector<int32_t> only_once(int64_t index) const override {
    const auto number = static_cast<int32_t>(index);
    return {number % shared_, 1000 + number};
  }

 private:
  int64_t size_;
  int32_t shared_;
};

TEST(LoaderTest, StepsHoldNoTwoSamplesThatMayNotMeet) {
  LoaderOptions options = options_for(std::make_shared<SharingDataset>(50, 10));
  options.threads = 2;
  Loader loader(options);
  options.first_step = 7;
  Loader resumed(options);
  std::map<int32_t, int> uses;
  for (int64_t step = 0; step < 20; ++step) {
    const StepBatch batch = loader.next();
    std::set<int32_t> texts;
    for (const MicroBatch& part : batch.micro_batches) {
      for (int64_t i = 0; i < part.num_tokens; ++i) {
        texts.insert(part.input_ids[i] % 10);
        ++uses[part.input_ids[i]];
      }
    }
    EXPECT_EQ(texts.size(), 8u) << step;
    if (step >= 7) expect_equal(batch, resumed.next());
  }
  EXPECT_EQ(uses.size(), 50u);  // 160 samples of 3.2 epochs
  for (const auto& [sample, count] : uses) {
    EXPECT_GE(count, 2) << sample;
    EXPECT_LE(count, 4) << sample;
  }
}

TEST(LoaderTest, SamplesThatCannotFillAStepAreRefused) {
  Loader loader(options_for(std::make_shared<SharingDataset>(50, 7)));
  try {
    loader.next();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "no 8 samples of the 50 there are have texts that all differ, as those of a step "
                 "must; lower global_batch_size, or leave out rows with the same texts");
  }
}

}  // namespace
}  // namespace cloze::data
