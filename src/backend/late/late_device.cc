#include "backend/late/late_device.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "backend/renamed_backend.h"
#include "backend/walled/walled_device.h"
#include "base/error.h"
#include "base/whole_number.h"

namespace cloze::backend::late {
namespace {

struct Queue;

// So much of a queue's work.
struct Moment {
  std::shared_ptr<Queue> queue;
  size_t work = 0;
};

struct Work {
  std::string name;  // for messages
  std::function<void(Stream&)> run;
  Moment after;  // its queue is null: at once
};

struct Queue {
  std::deque<Work> waiting;
  size_t given = 0;
  size_t done = 0;
  std::exception_ptr error;  // of the first work that failed: all later work is left out
};

bool has_come(const Moment& moment) {
  return moment.queue == nullptr || moment.queue->done >= moment.work;
}

[[noreturn]] void rethrow_named(const std::string& name) {
  try {
    throw;
  } catch (const InternalError& error) {
    throw InternalError(name + ": " + error.what());
  } catch (const std::exception& error) {
    throw EnvironmentError(name + ": " + error.what());
  }
}

// All queues of a device, and the thread that does their work.
class Scheduler {
 public:
  Scheduler(uint64_t seed, Device& device) : random_(seed), stream_(device.make_stream()) {}
  ~Scheduler() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  std::shared_ptr<Queue> make_queue() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    return queues_.emplace_back(std::make_shared<Queue>());
  }

  Moment give(const std::shared_ptr<Queue>& queue, Work work) {
    const std::lock_guard lock(mutex_);
    queue->waiting.push_back(std::move(work));
    return {queue, ++queue->given};
  }

  Moment all_given(const std::shared_ptr<Queue>& queue) {
    const std::lock_guard lock(mutex_);
    return {queue, queue->given};
  }

  // Returns when the moment has come; throws the queue's error.
  void require(const Moment& moment) {
    std::unique_lock lock(mutex_);
    require(moment, lock);
    if (moment.queue->error) std::rethrow_exception(moment.queue->error);
  }

  void require_everything() {
    std::unique_lock lock(mutex_);
    const std::vector<std::shared_ptr<Queue>> queues = queues_;
    for (const auto& queue : queues) require({queue, queue->given}, lock);
  }

 private:
  void require(const Moment& moment, std::unique_lock<std::mutex>& lock) {
    if (has_come(moment)) return;
    required_.push_back(moment);
    does_only_required_ = random_() % 2 == 0;
    changed_.notify_all();
    changed_.wait(lock, [&] { return has_come(moment); });
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] {
        std::erase_if(required_, has_come);
        return is_ending_ || !required_.empty();
      });
      if (is_ending_) return;
      do_one(*any_ready_queue(), lock);
    }
  }

  // Forgets streams that have ended, once their work is done.
  std::shared_ptr<Queue> any_ready_queue() {
    std::erase_if(queues_, [](const auto& queue) {
      return queue.use_count() == 1 && queue->waiting.empty();
    });
    std::vector<std::shared_ptr<Queue>> ready, ready_and_required;
    for (const auto& queue : queues_) {
      if (queue->waiting.empty() || !has_come(queue->waiting.front().after)) continue;
      ready.push_back(queue);
      if (is_required(queue)) ready_and_required.push_back(queue);
    }
    CLOZE_CHECK(!ready.empty(), "every stream waits for another");
    // Work that is required may wait for an event of another queue.
    const bool is_narrow = does_only_required_ && !ready_and_required.empty();
    const auto& choice = is_narrow ? ready_and_required : ready;
    return choice[random_() % choice.size()];
  }

  bool is_required(const std::shared_ptr<Queue>& queue) const {
    return std::ranges::any_of(required_,
                               [&](const Moment& moment) { return moment.queue == queue; });
  }

  void do_one(Queue& queue, std::unique_lock<std::mutex>& lock) {
    const Work work = std::move(queue.waiting.front());
    queue.waiting.pop_front();
    if (!queue.error) {
      lock.unlock();
      std::exception_ptr error;
      try {
        run(work);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      queue.error = error;
    }
    ++queue.done;
    changed_.notify_all();
  }

  void run(const Work& work) {
    try {
      work.run(*stream_);
    } catch (...) {
      rethrow_named(work.name);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Queue>> queues_;
  std::vector<Moment> required_;
  std::mt19937_64 random_;
  bool does_only_required_ = false;  // or work of any queue; drawn whenever something is required
  bool is_ending_ = false;
  std::unique_ptr<Stream> stream_;  // on which the thread does all work
  std::thread thread_;
};

class LateMemory final : public DeviceMemory {
 public:
  LateMemory(std::unique_ptr<DeviceMemory> memory, Scheduler& scheduler)
      : memory_(std::move(memory)), scheduler_(scheduler) {}
  ~LateMemory() override { scheduler_.require_everything(); }
  DeviceAddress start() const override { return memory_->start(); }
  size_t bytes() const override { return memory_->bytes(); }

 private:
  std::unique_ptr<DeviceMemory> memory_;
  Scheduler& scheduler_;
};

struct LateEvent final : Event {
  LateEvent(Scheduler& scheduler, Moment moment, std::shared_ptr<std::unique_ptr<Event>> event)
      : scheduler(scheduler), moment(std::move(moment)), event(std::move(event)) {}
  void finish() const override { scheduler.require(moment); }
  const Event& finished() const {
    finish();
    return **event;
  }

  Scheduler& scheduler;
  Moment moment;
  std::shared_ptr<std::unique_ptr<Event>> event;  // the thread records it
};

class LateStream final : public Stream {
 public:
  explicit LateStream(Scheduler& scheduler)
      : scheduler_(scheduler), queue_(scheduler.make_queue()) {}

  void copy_in(DeviceAddress target, std::span<const std::byte> source) override {
    give("copy in", [target, values = std::vector(source.begin(), source.end())](Stream& stream) {
      stream.copy_in(target, values);
    });
  }
  void copy_out(DeviceAddress source, std::span<std::byte> target) override {
    begin_copy_out(source, target);
    finish();
  }
  void begin_copy_in(DeviceAddress target, std::span<const std::byte> source) override {
    give("copy in", [=](Stream& stream) { stream.copy_in(target, source); });
  }
  void begin_copy_out(DeviceAddress source, std::span<std::byte> target) override {
    give("copy out", [=](Stream& stream) { stream.copy_out(source, target); });
  }
  void copy(DeviceAddress target, DeviceAddress source, size_t bytes) override {
    give("copy", [=](Stream& stream) { stream.copy(target, source, bytes); });
  }
  void fill_with_zeros(DeviceAddress target, size_t bytes) override {
    give("fill with zeros", [=](Stream& stream) { stream.fill_with_zeros(target, bytes); });
  }
  void launch(std::span<const BoundLaunch> launches, std::string_view name) override {
    for (const BoundLaunch& launch : launches) {
      give(std::string(name), [&launch](Stream& stream) { stream.launch({&launch, 1}, ""); });
    }
  }
  std::unique_ptr<Event> record() override {
    auto event = std::make_shared<std::unique_ptr<Event>>();
    Moment moment = give("event", [event](Stream& stream) { *event = stream.record(); });
    return std::make_unique<LateEvent>(scheduler_, std::move(moment), std::move(event));
  }
  void wait(const Event& event) override {
    scheduler_.give(queue_, {.name = "wait",
                             .run = [](Stream&) {},
                             .after = static_cast<const LateEvent&>(event).moment});
  }
  void finish() override { scheduler_.require(scheduler_.all_given(queue_)); }

 private:
  Moment give(std::string name, std::function<void(Stream&)> run) {
    return scheduler_.give(queue_, {.name = std::move(name), .run = std::move(run), .after = {}});
  }

  Scheduler& scheduler_;
  std::shared_ptr<Queue> queue_;
};

class LateDevice final : public Device {
 public:
  explicit LateDevice(uint64_t seed) : scheduler_(seed, walled::device()) {}

  const Backend& backend() const override { return backend_; }
  std::unique_ptr<DeviceMemory> allocate(size_t bytes) override {
    return std::make_unique<LateMemory>(walled::device().allocate(bytes), scheduler_);
  }
  std::unique_ptr<HostBlock> allocate_host(size_t bytes) override {
    return walled::device().allocate_host(bytes);
  }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<LateStream>(scheduler_);
  }
  double seconds_between(const Event& begin, const Event& end) override {
    return walled::device().seconds_between(static_cast<const LateEvent&>(begin).finished(),
                                            static_cast<const LateEvent&>(end).finished());
  }

 private:
  RenamedBackend backend_{"late", walled::device().backend()};
  Scheduler scheduler_;
};

}  // namespace

Device& device(uint64_t seed) {
  static std::mutex mutex;
  static std::map<uint64_t, LateDevice> devices;
  const std::lock_guard lock(mutex);
  return devices.try_emplace(seed, seed).first->second;
}

Device& device() {
  const char* const seed = std::getenv("CLOZE_LATE_SEED");
  const auto number = seed == nullptr ? std::optional<uint64_t>(0) : number_in<uint64_t>(seed);
  if (!number) throw_user_error("CLOZE_LATE_SEED is {}; give a whole number", seed);
  return device(*number);
}

}  // namespace cloze::backend::late
