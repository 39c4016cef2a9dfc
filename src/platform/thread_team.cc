#include "platform/thread_team.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

namespace cloze::platform {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Says whether `done` came true in the time that a thread may spin.
template <class Done>
bool spins_until(const Done& done) {
  constexpr int kTriesPerLook = 16;  // at the clock
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kTriesPerLook; ++i, pause()) {
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// True while this thread is at an item.
thread_local bool is_inside = false;

// Helpers join a call through a gate with room for a few. When nothing is left to do, the caller
// takes the room away and waits for the helpers inside.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  ~ThreadTeam() {
    has_ended_ = true;
    ++calls_;
    calls_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  void reserve(size_t helpers) {
    while (helpers_.size() < helpers) {
      try {
        helpers_.emplace_back([this] { help(); });
      } catch (const std::system_error& error) {
        throw_environment_error("cannot start thread {} of {}: {}; choose fewer threads",
                                helpers_.size() + 2, helpers + 1, error.what());
      }
    }
  }

  void run(int64_t count, uint32_t helpers, const ItemBody& body) {
    body_ = &body;
    count_ = count;
    room_ = helpers;
    next_item_.store(0, std::memory_order_relaxed);
    gate_.store(room_ * kRoom, std::memory_order_release);
    ++calls_;
    if (helpers == 1) {
      calls_.notify_one();
    } else {
      calls_.notify_all();
    }
    is_inside = true;
    work(0);
    is_inside = false;
    close();
  }

 private:
  static constexpr uint32_t kInside = 1;        // one helper inside
  static constexpr uint32_t kRoom = 1u << 16u;  // room for one more

  void help() {
    is_inside = true;
    for (uint32_t seen = 0;;) {
      const auto is_called = [&] { return calls_.load(std::memory_order_acquire) != seen; };
      if (!spins_until(is_called)) calls_.wait(seen, std::memory_order_acquire);
      seen = calls_.load(std::memory_order_acquire);
      if (has_ended_) return;
      const int thread = enter();
      if (thread == 0) continue;
      work(thread);
      leave();
    }
  }

  // The number that tells the helper from others inside; 0 when there is no room.
  int enter() {
    uint32_t gate = gate_.load(std::memory_order_relaxed);
    while (gate >= kRoom) {
      if (gate_.compare_exchange_weak(gate, gate - kRoom + kInside, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return static_cast<int>(room_ - gate / kRoom + 1);
      }
    }
    return 0;
  }

  void work(int thread) {
    const auto next = [this] { return next_item_.fetch_add(1, std::memory_order_relaxed); };
    for (int64_t item = next(); item < count_; item = next()) (*body_)(item, thread);
  }

  void leave() {
    const bool is_last = gate_.fetch_sub(kInside, std::memory_order_acq_rel) == kInside;
    if (is_last) gate_.notify_one();
  }

  void close() {
    gate_.fetch_and(kRoom - 1, std::memory_order_relaxed);
    const auto is_empty = [this] { return gate_.load(std::memory_order_acquire) == 0; };
    if (spins_until(is_empty)) return;
    for (uint32_t gate = gate_; gate != 0; gate = gate_.load(std::memory_order_acquire)) {
      gate_.wait(gate, std::memory_order_acquire);
    }
  }

  alignas(64) std::atomic<uint32_t> calls_{0};  // so far; helpers wait for the next
  std::atomic<bool> has_ended_{false};
  alignas(64) std::atomic<uint32_t> gate_{0};
  const ItemBody* body_ = nullptr;  // these belong to whoever is inside
  int64_t count_ = 0;
  uint32_t room_ = 0;
  alignas(64) std::atomic<int64_t> next_item_{0};
  std::vector<std::thread> helpers_;
};

// A forked child has the memory of its parent's teams, but not their threads: no thread can be
// joined.
class OwnTeam {
 public:
  ~OwnTeam() {
    if (::getpid() != process_) static_cast<void>(team_.release());
  }
  ThreadTeam& team() { return *team_; }

 private:
  pid_t process_ = ::getpid();
  std::unique_ptr<ThreadTeam> team_ = std::make_unique<ThreadTeam>();
};

}  // namespace

void share_items(int64_t count, int num_threads, const ItemBody& body) {
  const int64_t threads = std::min<int64_t>(count, num_threads);
  if (threads <= 1 || is_inside) {
    for (int64_t item = 0; item < count; ++item) body(item, 0);
    return;
  }
  thread_local OwnTeam own;
  own.team().reserve(static_cast<size_t>(num_threads - 1));
  own.team().run(count, static_cast<uint32_t>(threads - 1), body);
}

}  // namespace cloze::platform
