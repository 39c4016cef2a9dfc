// Loader: the step batches of a run in order, made ready ahead of time by threads of their own.
//
// Step k takes samples [kN, (k+1)N) of the sequence
//   epoch 0 shuffled, epoch 1 shuffled anew, ...        (Permutation(seed, epoch), shuffle.h)
// which runs across the borders of epochs: every sample is used once in each; where samples may not
// meet in a step, in distinct_order.h's order. The batch is a function of (dataset, N, capacity,
// seed, k), so a run resumes at any step by asking for it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/dataset.h"
#include "data/distinct_order.h"
#include "data/micro_batch.h"

namespace cloze::data {

struct LoaderOptions {
  std::shared_ptr<const Dataset> dataset;
  int64_t global_batch_size = 0;  // N
  MicroBatchCapacity capacity;
  uint64_t seed = 0;
  int64_t first_step = 0;
  int64_t threads = 1;
  int64_t prefetch_steps = 4;        // step batches kept ready, at least 1
  int64_t memory_bytes = 256 << 20;  // which they may take; one batch is kept whatever its size
  int64_t batches_in_use = 1;        // by whoever calls next()

  std::shared_ptr<DistinctOrder> distinct = {};  // made by the loader, where samples may not meet

  // Makes room for a caller that uses so many batches at a time.
  void take_together(int64_t batches) {
    batches_in_use = batches;
    prefetch_steps = std::max(prefetch_steps, batches);
  }
};

// The samples of one step, in order.
std::vector<Sample> step_samples(const LoaderOptions& options, int64_t step);

// The batch of one step, computed here and now.
StepBatch load_step(const LoaderOptions& options, int64_t step);

// Synthetic data: one micro-batch, the same in every pass of every step, so that nothing is read,
// and nothing is copied to the device after the first pass. It holds the whole data set.
// InternalError when the data set does not fit into one micro-batch, or when its size does not
// divide the number of samples in a step.
StepBatch synthetic_step(const LoaderOptions& options);

// The most bytes that a loader of samples of so many tokens holds: batches that are ready or in
// use, and samples that threads lay out.
int64_t most_bytes(const LoaderOptions& options, int64_t tokens_per_sample);

class Loader {
 public:
  explicit Loader(LoaderOptions options);  // UserError for nonsense sizes
  ~Loader() = default;                     // stops the threads and waits for them
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next step's batch. An error met while it was made is thrown here, at the step it belongs
  // to, and again whenever the step is asked for.
  StepBatch next();
  // The time that next() has waited for the threads, all calls together.
  double waited_seconds() const { return waited_seconds_; }

 private:
  struct Outcome {
    StepBatch batch;
    std::exception_ptr error;
  };
  void run(const std::stop_token& stop);
  bool has_room() const;

  LoaderOptions options_;
  double waited_seconds_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int64_t, Outcome> ready_;   // by step
  int64_t next_step_ = 0;              // to be handed out
  int64_t claimed_step_ = 0;           // the first one that no thread has claimed
  int64_t largest_batch_bytes_ = 0;    // so far
  std::vector<std::jthread> threads_;  // last: they must be gone before what they use
};

}  // namespace cloze::data
