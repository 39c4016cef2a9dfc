#include "data/loader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "data/packer.h"
#include "data/shuffle.h"

namespace cloze::data {
namespace {

int64_t bytes_of(const StepBatch& batch) {
  int64_t bytes = 0;
  for (const MicroBatch& micro_batch : batch.micro_batches) bytes += micro_batch.capacity().bytes();
  return bytes;
}

}  // namespace

std::vector<Sample> step_samples(const LoaderOptions& options, int64_t step) {
  std::vector<Sample> samples;
  samples.reserve(static_cast<size_t>(options.global_batch_size));
  const auto add = [&](const ShuffledEpochs::Place& place) {
    samples.push_back(options.dataset->sample(place.index, place.epoch));
  };
  if (options.distinct) {
    std::ranges::for_each(options.distinct->step(step), add);
    return samples;
  }
  ShuffledEpochs epochs(options.dataset->size(), options.seed);
  const int64_t begin = step * options.global_batch_size;
  for (int64_t i = 0; i < options.global_batch_size; ++i) add(epochs.at(begin + i));
  return samples;
}

StepBatch load_step(const LoaderOptions& options, int64_t step) {
  return pack(step_samples(options, step), options.capacity);
}

StepBatch synthetic_step(const LoaderOptions& options) {
  const int64_t count = options.dataset->size();
  CLOZE_CHECK(options.global_batch_size % count == 0, "{} samples of a step by {}",
              options.global_batch_size, count);
  std::vector<Sample> samples;
  for (int64_t i = 0; i < count; ++i) samples.push_back(options.dataset->sample(i, 0));
  StepBatch batch = pack(samples, options.capacity);
  CLOZE_CHECK(batch.micro_batches.size() == 1, "{} micro-batches", batch.micro_batches.size());
  batch.synthetic_passes = options.global_batch_size / count;
  batch.num_samples *= batch.synthetic_passes;
  batch.num_tokens *= batch.synthetic_passes;
  batch.num_sequences *= batch.synthetic_passes;
  batch.num_predictions *= batch.synthetic_passes;
  for (float& weight : batch.micro_batches.front().prediction_weights) {
    weight /= static_cast<float>(batch.synthetic_passes);
  }
  return batch;
}

int64_t most_bytes(const LoaderOptions& options, int64_t tokens_per_sample) {
  const int64_t tokens = options.global_batch_size * tokens_per_sample;
  const int64_t batch = (tokens / options.capacity.tokens + 1) * options.capacity.bytes();
  const int64_t ready =
      std::clamp<int64_t>(options.memory_bytes / batch, 1, options.prefetch_steps);
  const int64_t samples = 2 * tokens * static_cast<int64_t>(sizeof(int32_t));  // ids and types
  return (ready + options.batches_in_use) * batch + options.threads * samples;
}

Loader::Loader(LoaderOptions options) : options_(std::move(options)) {
  CLOZE_CHECK(options_.dataset != nullptr, "a loader without a data set");
  if (options_.dataset->size() < 1) throw_user_error("the data set is empty");
  if (options_.global_batch_size < 1) {
    throw_user_error("global batch size {} must be at least 1", options_.global_batch_size);
  }
  if (options_.first_step < 0 || options_.prefetch_steps < 1 || options_.threads < 1) {
    throw_user_error(
        "first step {} must not be negative; prefetch steps {} and loader threads {} must be "
        "positive",
        options_.first_step, options_.prefetch_steps, options_.threads);
  }
  if (!options_.dataset->only_once(0).empty()) {
    options_.distinct = std::make_shared<DistinctOrder>(options_.dataset,
                                                        options_.global_batch_size, options_.seed);
  }
  next_step_ = claimed_step_ = options_.first_step;
  for (int64_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

StepBatch Loader::next() {
  const auto asked = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_.contains(next_step_); });
  waited_seconds_ += seconds_since(asked);
  Outcome& outcome = ready_.at(next_step_);
  if (outcome.error) std::rethrow_exception(outcome.error);
  StepBatch batch = std::move(outcome.batch);
  ready_.erase(next_step_++);
  lock.unlock();
  changed_.notify_all();
  return batch;
}

// Says whether one more batch may be made: those ready and those being made count.
bool Loader::has_room() const {
  const int64_t batches = claimed_step_ - next_step_;
  return batches == 0 || (batches < options_.prefetch_steps &&
                          (batches + 1) * largest_batch_bytes_ <= options_.memory_bytes);
}

void Loader::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return has_room(); }) && !stop.stop_requested()) {
    const int64_t step = claimed_step_++;
    lock.unlock();
    Outcome outcome;
    try {
      outcome.batch = load_step(options_, step);
    } catch (...) {
      outcome.error = std::current_exception();
    }
    lock.lock();
    largest_batch_bytes_ = std::max(largest_batch_bytes_, bytes_of(outcome.batch));
    const bool is_broken = outcome.error != nullptr;
    ready_.emplace(step, std::move(outcome));
    changed_.notify_all();
    if (is_broken) return;
  }
}

}  // namespace cloze::data
