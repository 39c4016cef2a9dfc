#include "serve/request_queue.h"

#include <exception>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace cloze::serve {
namespace {

void append_answers(const Handler& handler, std::span<const Input> inputs,
                    std::vector<Output>& outputs) {
  try {
    std::vector<formats::Json> values = handler(inputs);
    CLOZE_CHECK(values.size() == inputs.size(), "{} outputs for {} inputs", values.size(),
                inputs.size());
    for (formats::Json& value : values) outputs.push_back({.value = std::move(value)});
  } catch (const UserError& error) {
    if (inputs.size() == 1) {
      const bool is_models_fault = dynamic_cast<const DataError*>(&error) != nullptr;
      outputs.push_back({.error = error.what(), .is_models_fault = is_models_fault});
      return;
    }
    const size_t half = inputs.size() / 2;
    append_answers(handler, inputs.first(half), outputs);
    append_answers(handler, inputs.subspan(half), outputs);
  }
}

}  // namespace

std::vector<Output> answer_each(const Handler& handler, std::span<const Input> inputs) {
  std::vector<Output> outputs;
  outputs.reserve(inputs.size());
  if (!inputs.empty()) append_answers(handler, inputs, outputs);
  return outputs;
}

RequestQueue::RequestQueue(Handler handler, const QueueLimits& limits, Observer observer)
    : handler_(std::move(handler)), limits_(limits), observer_(std::move(observer)) {
  try {
    watch_ = std::jthread([this] { watch_time(); });
    worker_ = std::jthread([this] { work(); });
  } catch (const std::system_error& error) {
    stop();  // a thread that runs would be waited for without end
    throw_environment_error("cannot start the threads of the request queue: {}; see ulimit -u",
                            error.what());
  }
}

RequestQueue::~RequestQueue() { stop(); }

void RequestQueue::submit(std::vector<Input> inputs, Done done) {
  const Size size = size_of(inputs);
  std::unique_lock lock(mutex_);
  if (is_stopping_ || waiting_inputs_ + size.inputs > limits_.waiting_inputs) {
    const QueueResult reason = is_stopping_ ? QueueResult::kStopping : QueueResult::kFull;
    lock.unlock();
    done({.result = reason});
    return;
  }
  waiting_.push_back({std::move(inputs), std::move(done), Clock::now(), size});
  waiting_inputs_ += size.inputs;
  lock.unlock();
  arrived_.notify_one();
}

void RequestQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  arrived_.notify_all();
  stopped_.notify_all();
  if (worker_.joinable()) worker_.join();
  if (watch_.joinable()) watch_.join();
}

int64_t RequestQueue::waiting_inputs() const {
  const std::lock_guard lock(mutex_);
  return waiting_inputs_;
}

void RequestQueue::Size::add(const Size& other) {
  inputs += other.inputs;
  bytes += other.bytes;
  candidates += other.candidates;
}

RequestQueue::Size RequestQueue::size_of(std::span<const Input> inputs) {
  Size size{.inputs = std::ssize(inputs)};
  for (const Input& input : inputs) {
    size.bytes += input.bytes();
    size.candidates += input.candidates;
  }
  return size;
}

bool RequestQueue::fits(const Size& batch) const {
  return batch.inputs <= limits_.batch_inputs && batch.bytes <= limits_.batch_bytes &&
         batch.candidates <= limits_.batch_candidates;
}

// One more input would not fit.
bool RequestQueue::holds_full_batch() const {
  Size size{.inputs = 1, .bytes = 1, .candidates = 1};
  for (const Entry& entry : waiting_) size.add(entry.size);
  return !fits(size);
}

RequestQueue::Entry RequestQueue::take_first() {
  Entry entry = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_inputs_ -= entry.size.inputs;
  return entry;
}

std::vector<RequestQueue::Entry> RequestQueue::wait_for_batch() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
  if (!waiting_.empty()) {
    arrived_.wait_until(lock, waiting_.front().arrival + limits_.batch_wait,
                        [&] { return is_stopping_ || holds_full_batch(); });
  }
  std::vector<Entry> batch;
  Size size;
  while (!waiting_.empty()) {
    size.add(waiting_.front().size);
    if (!fits(size) && !batch.empty()) break;
    batch.push_back(take_first());
  }
  return batch;
}

void RequestQueue::work() {
  while (true) {
    std::vector<Entry> batch = wait_for_batch();
    if (!batch.empty()) {
      run(std::move(batch));
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (is_stopping_ && waiting_.empty()) return;
  }
}

void RequestQueue::fail(std::span<Entry> batch, const std::string& error) {
  for (Entry& entry : batch) entry.done({.result = QueueResult::kFailed, .error = error});
}

void RequestQueue::run(std::vector<Entry> batch) {
  std::vector<std::vector<Output>> outputs;  // by entry
  try {
    std::vector<Input> inputs;
    for (Entry& entry : batch) {
      std::move(entry.inputs.begin(), entry.inputs.end(), std::back_inserter(inputs));
    }
    if (observer_) observer_(std::ssize(inputs));
    std::vector<Output> all = answer_each(handler_, inputs);
    auto next = std::move_iterator(all.begin());
    for (const Entry& entry : batch) {
      outputs.emplace_back(next, next + entry.size.inputs);
      next += entry.size.inputs;
    }
  } catch (const std::bad_alloc&) {
    fail(batch, "there is no memory for it; send fewer inputs at once");
    return;
  } catch (const std::exception& error) {
    fail(batch, error.what());
    return;
  }
  for (size_t i = 0; i < batch.size(); ++i) batch[i].done({.outputs = std::move(outputs[i])});
}

// Requests that arrive while this thread sleeps do not expire before it wakes.
void RequestQueue::watch_time() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    const Clock::time_point now = Clock::now();
    std::vector<Entry> expired;
    while (!waiting_.empty() && waiting_.front().arrival + limits_.waiting_time <= now) {
      expired.push_back(take_first());
    }
    if (!expired.empty()) {
      lock.unlock();
      for (Entry& entry : expired) entry.done({.result = QueueResult::kExpired});
      lock.lock();
      continue;
    }
    const Clock::time_point first = waiting_.empty() ? now : waiting_.front().arrival;
    stopped_.wait_until(lock, first + limits_.waiting_time, [&] { return is_stopping_; });
  }
}

}  // namespace cloze::serve
