// `cloze latency`, for a command that measures several things.
#pragma once

#include <cstdint>
#include <string>

#include "cli/inference/inference_options.h"
#include "inference/latency.h"

namespace cloze::cli {

struct LatencyCommand {
  ModelOptions model;
  std::string program;
  int64_t sequence_length = 128;
  std::string lengths_file;
  int64_t batch_size = 1;
  inference::LatencyOptions latency;
  bool dumps_raw_timings = false;
};

// Prints what it measures.
inference::LatencyRun run_latency(const LatencyCommand& options);

}  // namespace cloze::cli
