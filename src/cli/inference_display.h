// Shows how far a model has come through the sequences of a task, and lets a signal end the work.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cli/work_display.h"
#include "inference/inference_client.h"

namespace cloze::cli {

// What a client's run() throws when a signal asked to stop (platform/signals.h).
struct InferenceStopped {};

// Observes a client, which it must not outlive, through `total` sequences.
class InferenceDisplay {
 public:
  InferenceDisplay(inference::InferenceClient& client, int64_t total);
  ~InferenceDisplay() { client_.set_observer({}); }
  InferenceDisplay(const InferenceDisplay&) = delete;
  InferenceDisplay& operator=(const InferenceDisplay&) = delete;

 private:
  std::string describe(double seconds) const;

  inference::InferenceClient& client_;
  int64_t total_;
  std::atomic<int64_t> sequences_ = 0;
  std::atomic<int64_t> tokens_ = 0;
  WorkDisplay display_;  // last: it reads the others
};

}  // namespace cloze::cli
