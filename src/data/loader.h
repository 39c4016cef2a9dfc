// Loader: the step batches of a run in order, made ready ahead of time by a thread of its own.
//
// Step k takes samples [kN, (k+1)N) of the sequence
//   epoch 0 shuffled, epoch 1 shuffled anew, ...        (Permutation(seed, epoch), shuffle.h)
// which runs across the borders of epochs: every sample is used once in each. A step's batch is a
// function of (dataset, N, capacity, seed, k), so a run resumes at any step by asking for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "data/dataset.h"
#include "data/micro_batch.h"

namespace cloze::data {

struct LoaderOptions {
  std::shared_ptr<const Dataset> dataset;
  int64_t global_batch_size = 0;  // N
  MicroBatchCapacity capacity;
  uint64_t seed = 0;
  int64_t first_step = 0;
  int64_t prefetch_steps = 4;  // step batches kept ready, at least 1
};

// The batch of one step, computed here and now.
StepBatch load_step(const LoaderOptions& options, int64_t step);

class Loader {
 public:
  explicit Loader(LoaderOptions options);  // UserError for nonsense sizes
  ~Loader() = default;                     // stops the thread and waits for it
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next step's batch. An error met while it was made is thrown here, at the step it belongs
  // to.
  StepBatch next();
  // How long next() has waited for the thread, all calls together.
  double waited_seconds() const { return waited_seconds_; }

 private:
  void run(const std::stop_token& stop);

  LoaderOptions options_;
  double waited_seconds_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<StepBatch> ready_;
  std::exception_ptr error_;
  std::jthread thread_;  // last: it must be gone before what it uses
};

}  // namespace cloze::data
