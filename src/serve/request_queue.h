// A bounded queue of requests in front of a model, with dynamic batching: its one worker takes what
// waits, in order of arrival, as much as a batch may hold, and runs it at once.
//
// Each request is finished exactly once: answered, refused, expired or failed. `done` is called
// from submit() (refused), from the worker or from the thread that watches the time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "serve/endpoint.h"
#include "serve/limits.h"

namespace cloze::serve {

struct Output {
  formats::Json value;
  std::string error = "";        // what is wrong with the input; "" when there is a value
  bool is_models_fault = false;  // the error is of the model, which took the input
};

// One output per input, in order: a bad input spoils only its own answer. A batch that the handler
// refuses is halved until the bad inputs stand alone: b bad ones among n cost about b·log2(n)
// refusals. A DataError of one input is the model's fault, and no other's. Errors of other kinds
// pass through.
std::vector<Output> answer_each(const Handler& handler, std::span<const Input> inputs);

enum class QueueResult {
  kAnswered,
  kFull,      // refused: too much waits
  kStopping,  // refused: the server ends
  kExpired,   // waited longer than QueueLimits::waiting_time
  kFailed     // the handler failed, and not because of an input
};

struct QueueReply {
  QueueResult result = QueueResult::kAnswered;
  std::vector<Output> outputs;  // one per input when answered
  std::string error;            // when failed
};

class RequestQueue {
 public:
  using Done = std::function<void(QueueReply)>;          // must not throw
  using Observer = std::function<void(int64_t inputs)>;  // before each batch, by the worker

  // EnvironmentError when the system has no thread for it.
  RequestQueue(Handler handler, const QueueLimits& limits, Observer observer = {});
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  void submit(std::vector<Input> inputs, Done done);
  // Refuses what comes from now on, finishes what waits, and returns when that is done.
  void stop();
  int64_t waiting_inputs() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Size {  // what is bounded in a batch
    int64_t inputs = 0;
    int64_t bytes = 0;
    int64_t candidates = 0;

    void add(const Size& other);
  };
  struct Entry {
    std::vector<Input> inputs;
    Done done;
    Clock::time_point arrival;
    Size size;
  };

  void work();
  void watch_time();
  std::vector<Entry> wait_for_batch();  // empty: there will be no more
  static Size size_of(std::span<const Input> inputs);
  bool fits(const Size& batch) const;
  bool holds_full_batch() const;
  Entry take_first();
  void run(std::vector<Entry> batch);
  static void fail(std::span<Entry> batch, const std::string& error);

  const Handler handler_;
  const QueueLimits limits_;
  const Observer observer_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::condition_variable stopped_;
  std::deque<Entry> waiting_;
  int64_t waiting_inputs_ = 0;
  bool is_stopping_ = false;
  std::jthread watch_;  // the threads last: they must be gone before what they use
  std::jthread worker_;
};

}  // namespace cloze::serve
