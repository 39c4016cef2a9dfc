// A bounded queue of requests in front of a model, with dynamic batching: its one worker takes what
// waits, in order of arrival, as much as a batch may hold, and runs it at once.
//
// A request of more inputs than a batch holds is run in several. After each of them it stands behind
// the requests that have come meanwhile, so that a long list holds nobody up for longer than a batch.
//
// Each request is finished exactly once: answered, refused, expired or failed. `done` is called
// from submit() (refused), from the worker or from the thread that watches the time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "serve/answer.h"
#include "serve/limits.h"

namespace cloze::serve {

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

struct QueueTimes {
  double waited = 0.0;  // seconds until its first batch began
  double worked = 0.0;  // seconds of its batches, without the time for tokens
};

struct QueueReply {
  QueueResult result = QueueResult::kAnswered;
  std::vector<Output> outputs;  // one per input when answered
  std::string error;            // when failed
  QueueTimes times;
};

struct BatchSize {
  int64_t inputs = 0;
  int64_t tokens = 0;
};

class RequestQueue {
 public:
  using Done = std::function<void(QueueReply)>;          // must not throw
  using Observer = std::function<void(BatchSize size)>;  // after each batch, by the worker

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
  struct Entry {  // a request
    std::vector<Input> inputs;
    Done done;
    Clock::time_point arrival;
    size_t taken = 0;             // of the inputs: those before have been in batches
    std::vector<Output> outputs;  // of these
    QueueTimes times = {};

    bool has_begun() const { return taken > 0; }
    bool is_taken() const { return taken == inputs.size(); }
  };
  struct Part {  // of a batch: the last `count` inputs that were taken of a request
    std::shared_ptr<Entry> entry;
    size_t count = 0;
  };
  struct BatchOutputs;

  void work();
  void watch_time();
  std::vector<Part> wait_for_batch();  // empty: there will be no more
  static Size size_of(const Input& input);
  static Size size_left(const Entry& entry);
  bool fits(const Size& batch) const;
  bool holds_full_batch() const;
  size_t inputs_that_fit(const Entry& entry) const;
  Part take(size_t count);
  std::vector<std::shared_ptr<Entry>> take_expired();
  void run(std::vector<Part> batch);
  BatchOutputs outputs_of(std::span<const Part> batch) const;
  void fail(std::span<const Part> batch, const std::string& error);

  const Handler handler_;
  const QueueLimits limits_;
  const Observer observer_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable arrived_;
  std::condition_variable stopped_;
  std::deque<std::shared_ptr<Entry>> waiting_;
  int64_t waiting_inputs_ = 0;
  bool is_stopping_ = false;
  std::jthread watch_;  // the threads last: they must be gone before what they use
  std::jthread worker_;
};

}  // namespace cloze::serve
