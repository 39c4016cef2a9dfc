#include "serve/request_queue.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"

namespace cloze::serve {
namespace {

void append_answers(const Handler& handler, std::span<const Input> inputs,
                    std::vector<Output>& outputs) {
  try {
    std::vector<Answer> answers = handler(inputs);
    CLOZE_CHECK(answers.size() == inputs.size(), "{} answers for {} inputs", answers.size(),
                inputs.size());
    for (Answer& answer : answers) outputs.push_back({.answer = std::move(answer)});
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
  std::unique_lock lock(mutex_);
  if (is_stopping_ || waiting_inputs_ + std::ssize(inputs) > limits_.waiting_inputs) {
    const QueueResult reason = is_stopping_ ? QueueResult::kStopping : QueueResult::kFull;
    lock.unlock();
    done({.result = reason});
    return;
  }
  waiting_inputs_ += std::ssize(inputs);
  waiting_.push_back(std::make_shared<Entry>(
      Entry{.inputs = std::move(inputs), .done = std::move(done), .arrival = Clock::now()}));
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

RequestQueue::Size RequestQueue::size_of(const Input& input) {
  return {.inputs = 1, .bytes = input.bytes(), .candidates = input.candidates};
}

RequestQueue::Size RequestQueue::size_left(const Entry& entry) {
  Size size;
  for (size_t i = entry.taken; i < entry.inputs.size(); ++i) size.add(size_of(entry.inputs[i]));
  return size;
}

bool RequestQueue::fits(const Size& batch) const {
  return batch.inputs <= limits_.batch_inputs && batch.bytes <= limits_.batch_bytes &&
         batch.candidates <= limits_.batch_candidates;
}

// One more input would not fit.
bool RequestQueue::holds_full_batch() const {
  Size size{.inputs = 1, .bytes = 1, .candidates = 1};
  for (const auto& entry : waiting_) {
    size.add(size_left(*entry));
    if (!fits(size)) return true;
  }
  return false;
}

// Counts the next inputs of a request that make a batch by themselves; at least one.
size_t RequestQueue::inputs_that_fit(const Entry& entry) const {
  Size size;
  size_t count = 0;
  for (size_t i = entry.taken; i < entry.inputs.size(); ++i, ++count) {
    size.add(size_of(entry.inputs[i]));
    if (!fits(size)) break;
  }
  return std::max<size_t>(count, 1);
}

// Takes so many of the next inputs of the first request. The rest of it comes back after the batch.
RequestQueue::Part RequestQueue::take(size_t count) {
  Part part{.entry = std::move(waiting_.front()), .count = count};
  waiting_.pop_front();
  Entry& entry = *part.entry;
  if (!entry.has_begun()) entry.times.waited = seconds_since(entry.arrival);
  entry.taken += count;
  waiting_inputs_ -= static_cast<int64_t>(count);
  return part;
}

std::vector<RequestQueue::Part> RequestQueue::wait_for_batch() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
  if (!waiting_.empty()) {
    arrived_.wait_until(lock, waiting_.front()->arrival + limits_.batch_wait,
                        [&] { return is_stopping_ || holds_full_batch(); });
  }
  std::vector<Part> batch;
  Size size;
  while (!waiting_.empty()) {
    const Entry& first = *waiting_.front();
    size.add(size_left(first));
    if (fits(size)) {
      batch.push_back(take(first.inputs.size() - first.taken));
      continue;
    }
    if (batch.empty()) batch.push_back(take(inputs_that_fit(first)));
    break;
  }
  return batch;
}

void RequestQueue::work() {
  while (true) {
    std::vector<Part> batch = wait_for_batch();
    if (!batch.empty()) {
      run(std::move(batch));
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (is_stopping_ && waiting_.empty()) return;
  }
}

void RequestQueue::fail(std::span<const Part> batch, const std::string& error) {
  {
    const std::lock_guard lock(mutex_);
    for (const Part& part : batch) {
      waiting_inputs_ -= std::ssize(part.entry->inputs) - static_cast<int64_t>(part.entry->taken);
    }
  }
  for (const Part& part : batch) {
    part.entry->done({.result = QueueResult::kFailed, .error = error});
  }
}

struct RequestQueue::BatchOutputs {
  std::vector<Output> outputs;
  int64_t tokens = 0;
  double token_seconds = 0.0;
};

RequestQueue::BatchOutputs RequestQueue::outputs_of(std::span<const Part> batch) const {
  std::vector<Input> inputs;
  for (const Part& part : batch) {
    const auto end = std::move_iterator(part.entry->inputs.begin() + part.entry->taken);
    inputs.insert(inputs.end(), end - static_cast<std::ptrdiff_t>(part.count), end);
  }
  BatchOutputs made{.outputs = answer_each(handler_, inputs)};
  for (const Output& output : made.outputs) {
    made.tokens += output.answer.tokens;
    made.token_seconds += output.answer.token_seconds;
  }
  return made;
}

void RequestQueue::run(std::vector<Part> batch) {
  const Clock::time_point begin = Clock::now();
  BatchOutputs made;
  try {
    made = outputs_of(batch);
    auto next = std::move_iterator(made.outputs.begin());
    for (const Part& part : batch) {
      auto& outputs = part.entry->outputs;
      outputs.insert(outputs.end(), next, next + static_cast<std::ptrdiff_t>(part.count));
      next += static_cast<std::ptrdiff_t>(part.count);
    }
  } catch (const std::bad_alloc&) {
    fail(batch, "there is no memory for it; send fewer inputs at once");
    return;
  } catch (const std::exception& error) {
    fail(batch, error.what());
    return;
  }
  if (observer_) observer_({.inputs = std::ssize(made.outputs), .tokens = made.tokens});
  const double seconds = std::max(seconds_since(begin) - made.token_seconds, 0.0);
  for (Part& part : batch) {
    Entry& entry = *part.entry;
    entry.times.worked += seconds;
    if (entry.is_taken()) {
      entry.done({.outputs = std::move(entry.outputs), .times = entry.times});
    } else {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(part.entry));
    }
  }
}

// Requests that wait since before a time, but for those that have begun.
std::vector<std::shared_ptr<RequestQueue::Entry>> RequestQueue::take_expired() {
  const Clock::time_point latest = Clock::now() - limits_.waiting_time;
  std::vector<std::shared_ptr<Entry>> expired;
  for (const auto& entry : waiting_) {
    if (!entry->has_begun() && entry->arrival <= latest) expired.push_back(entry);
  }
  for (const auto& entry : expired) {
    waiting_inputs_ -= std::ssize(entry->inputs);
    std::erase(waiting_, entry);
  }
  return expired;
}

// Requests that arrive while this thread sleeps do not expire before it wakes.
void RequestQueue::watch_time() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    const auto expired = take_expired();
    if (!expired.empty()) {
      lock.unlock();
      for (const auto& entry : expired) entry->done({.result = QueueResult::kExpired});
      lock.lock();
      continue;
    }
    Clock::time_point first = Clock::now();
    for (const auto& entry : waiting_) {
      if (!entry->has_begun()) first = std::min(first, entry->arrival);
    }
    stopped_.wait_until(lock, first + limits_.waiting_time, [&] { return is_stopping_; });
  }
}

}  // namespace cloze::serve
