// How full the packer makes the micro-batches that batch_plan lays out, on natural lengths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/division.h"
#include "base/philox.h"
#include "cli/run/pretrain_run.h"
#include "data/offline_packing/length_histogram.h"
#include "data/packer.h"

namespace cloze::cli {
namespace {

struct Case {
  const char* lengths;
  int64_t seq_length;
  int64_t max_predictions;
  int64_t global_batch_size;
  int64_t micro_batch_size = 32;
};

// Lengths as frequent as in the histogram, the same for the same seed.
class LengthDraw {
 public:
  LengthDraw(const std::string& name, uint64_t seed) : random_(seed, 0) {
    const auto histogram = data::read_length_histogram(std::string(CLOZE_SOURCE_DIR) +
                                                       "/tests/fixtures/lengths/" + name);
    ends_.resize(histogram.counts.size());
    std::partial_sum(histogram.counts.begin(), histogram.counts.end(), ends_.begin());
  }
  int64_t next() {
    const int64_t place = random_.below(static_cast<uint32_t>(ends_.back()));
    return std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
  }

 private:
  PhiloxStream random_;
  std::vector<int64_t> ends_;  // ends_[l]: sequences of at most l tokens
};

data::Sample sample_of(int64_t length, int64_t max_predictions) {
  data::Sample sample;
  sample.input_ids.resize(static_cast<size_t>(length));
  sample.token_type_ids.resize(static_cast<size_t>(length));
  const auto masked = std::llround(0.15 * static_cast<double>(length));
  const auto predictions = static_cast<size_t>(std::clamp<int64_t>(masked, 1, max_predictions));
  sample.masked_positions.resize(predictions);
  std::iota(sample.masked_positions.begin(), sample.masked_positions.end(), 0);
  sample.masked_labels.resize(predictions);
  return sample;
}

class MicroBatchFill : public testing::TestWithParam<Case> {};

TEST_P(MicroBatchFill, HardlyASlotStaysEmpty) {
  constexpr int64_t kSamples = 40'000;
  PretrainOptions options;
  options.seq_length = GetParam().seq_length;
  options.drawing.pairs.masking.max_predictions = GetParam().max_predictions;
  options.micro_batch_size = GetParam().micro_batch_size;
  options.global_batch_size = GetParam().global_batch_size;
  const PretrainRun run(options);
  const BatchPlan& plan = run.batch;
  LengthDraw lengths(GetParam().lengths, 7);
  int64_t tokens = 0, slots = 0, least_slots = 0;
  for (int64_t step = 0; step * plan.sequences_per_step < kSamples; ++step) {
    std::vector<data::Sample> samples;
    for (int64_t i = 0; i < plan.sequences_per_step; ++i) {
      samples.push_back(sample_of(lengths.next(), GetParam().max_predictions));
    }
    const data::StepBatch batch = data::pack(samples, run.training.step.capacity);
    ASSERT_EQ(batch.num_sequences, plan.sequences_per_step);
    tokens += batch.num_tokens;
    slots += std::ssize(batch.micro_batches) * plan.tokens;
    least_slots += round_up(batch.num_tokens, plan.tokens);
  }
  const auto share = [&](int64_t all) {
    return static_cast<double>(tokens) / static_cast<double>(all);
  };
  RecordProperty("fill_percent", std::to_string(100.0 * share(slots)));
  RecordProperty("micro_batch_tokens", std::to_string(plan.tokens));
  EXPECT_GE(share(slots), 0.98) << "whole micro-batches allow " << share(least_slots);
}

INSTANTIATE_TEST_SUITE_P(NaturalLengths, MicroBatchFill,
                         testing::Values(Case{"wikipedia_512.tsv", 512, 76, 256},
                                         Case{"wikipedia_512.tsv", 512, 76, 1024},
                                         Case{"squad_384.tsv", 384, 56, 256},
                                         Case{"squad_384.tsv", 384, 56, 1024},
                                         Case{"wikipedia_512.tsv", 512, 76, 4096, 8},
                                         Case{"squad_384.tsv", 384, 56, 256, 8}),
                         [](const auto& info) {
                           return "S" + std::to_string(info.param.seq_length) + "_N" +
                                  std::to_string(info.param.global_batch_size) + "_M" +
                                  std::to_string(info.param.micro_batch_size);
                         });

}  // namespace
}  // namespace cloze::cli
