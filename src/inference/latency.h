// Measures how long inference takes: several client threads, each calling as fast as it is
// answered.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "data/offline_packing/length_histogram.h"
#include "data/sample.h"
#include "inference/packed_model.h"

namespace cloze::inference {

// Made-up samples to measure with: random tokens, two segments, and one blank where the head fills
// blanks. Each is a function of its index.
class MadeUpSamples {
 public:
  // Samples for the model, as long as each other, or with the lengths of a histogram (length and
  // count a line) when it is named. UserError when the model has fewer positions.
  MadeUpSamples(const PackedModel& model, int64_t length, const std::filesystem::path& histogram);

  // The samples [first, first + count).
  std::vector<data::Sample> batch(int64_t first, int64_t count) const;

 private:
  data::Sample sample(int64_t index) const;

  models::BertConfig config_;
  bool has_blank_;
  int64_t length_;
  std::optional<data::SpreadLengths> lengths_;
};

struct LatencyOptions {
  int num_clients = 2;
  int threads_per_client = 1;
  int64_t calls_per_client = 1000;
  int64_t warm_up_calls = 10;  // per client, not counted
};

struct LatencyRun {
  std::vector<double> seconds;  // of each call, client after client
  double elapsed = 0.0;         // seconds from the first call's start to the last one's end
  int64_t sequences = 0;
  int64_t tokens = 0;  // real ones
};

// batch(call) gives the samples of a call, from several threads at a time. What it takes counts in
// `elapsed` alone; packing the samples counts in `seconds` too. Throws what a client throws, and
// EnvironmentError when the system has no thread for one.
LatencyRun measure_latency(const std::shared_ptr<const PackedModel>& model,
                           const LatencyOptions& options,
                           const std::function<std::vector<data::Sample>(int64_t call)>& batch);

struct LatencySummary {
  double mean = 0.0;  // seconds
  double p50 = 0.0, p90 = 0.0, p99 = 0.0, p999 = 0.0;
};

// The p-th percentile is the shortest time that at least p percent of the calls did not exceed.
LatencySummary summarize(std::vector<double> seconds);

}  // namespace cloze::inference
