#include "data/loader.h"

#include <chrono>
#include <optional>
#include <utility>

#include "base/error.h"
#include "data/packer.h"
#include "data/shuffle.h"

namespace cloze::data {

StepBatch load_step(const LoaderOptions& options, int64_t step) {
  const auto size = static_cast<uint64_t>(options.dataset->size());
  const auto batch_size = static_cast<uint64_t>(options.global_batch_size);
  const uint64_t begin = static_cast<uint64_t>(step) * batch_size;
  std::vector<Sample> samples;
  samples.reserve(batch_size);
  std::optional<Permutation> permutation;
  for (uint64_t place = begin; place < begin + batch_size; ++place) {
    const uint64_t epoch = place / size;
    if (!permutation || place % size == 0) permutation.emplace(size, options.seed, epoch);
    const uint64_t index = (*permutation)(place % size);
    samples.push_back(options.dataset->sample(static_cast<int64_t>(index)));
  }
  return pack(samples, options.capacity);
}

Loader::Loader(LoaderOptions options) : options_(std::move(options)) {
  CLOZE_CHECK(options_.dataset != nullptr, "a loader without a data set");
  if (options_.dataset->size() < 1) throw_user_error("the data set is empty");
  if (options_.global_batch_size < 1) {
    throw_user_error("global batch size {} must be positive", options_.global_batch_size);
  }
  if (options_.first_step < 0 || options_.prefetch_steps < 1) {
    throw_user_error("first step {} must not be negative and prefetch steps {} must be positive",
                     options_.first_step, options_.prefetch_steps);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

StepBatch Loader::next() {
  const auto asked = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || error_; });
  waited_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
  if (ready_.empty()) std::rethrow_exception(error_);
  StepBatch batch = std::move(ready_.front());
  ready_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return batch;
}

void Loader::run(const std::stop_token& stop) {
  const auto room = static_cast<size_t>(options_.prefetch_steps);
  for (int64_t step = options_.first_step; !stop.stop_requested(); ++step) {
    std::optional<StepBatch> batch;
    std::exception_ptr error;
    try {
      batch = load_step(options_, step);
    } catch (...) {
      error = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    if (error) {
      error_ = error;
    } else if (changed_.wait(lock, stop, [&] { return ready_.size() < room; })) {
      ready_.push_back(std::move(*batch));
    }
    lock.unlock();
    changed_.notify_all();
    if (error) return;
  }
}

}  // namespace cloze::data
