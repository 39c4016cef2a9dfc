// How long inference takes: several client threads, each calling as fast as it is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "data/sample.h"
#include "inference/packed_model.h"

namespace cloze::inference {

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

// batch(call) gives the samples of a call, from several threads at a time. What it takes is not
// counted; packing the samples is.
LatencyRun measure_latency(const std::shared_ptr<const PackedModel>& model,
                           const LatencyOptions& options,
                           const std::function<std::vector<data::Sample>(int64_t call)>& batch);

struct LatencySummary {
  double mean = 0.0;  // seconds
  double p50 = 0.0, p90 = 0.0, p99 = 0.0, p999 = 0.0;
};

// A percentile is the shortest time that at least so many percent of the calls did not exceed.
LatencySummary summarize(std::vector<double> seconds);

}  // namespace cloze::inference
