// share_items: short loops, one after the other, shared out over threads that stay. Made to run
// beside other programs: a waiting thread spins for kSpinTime at most and then sleeps, every thread
// takes the next item when it is free, and none waits for a thread that has not begun. So a thread
// that loses its processor delays the item it holds and nothing else.
//
// Each thread that calls has a team of its own: helpers that start at its first call and end with
// it. Calls from several threads do not wait for each other. A call from within an item does all
// its items itself. A forked child has no helpers, and does all items itself too.
#pragma once

#include <chrono>
#include <cstdint>

namespace cloze::platform {

// About what it takes to wake a sleeping thread.
inline constexpr std::chrono::microseconds kSpinTime{50};

// A reference to a callable, body(item, thread), which must outlive it. What it throws ends the
// program: items run on threads that have no caller to report to.
class ItemBody {
 public:
  template <class Body>
  explicit ItemBody(const Body& body)
      : body_(&body), call_([](const void* body, int64_t item, int thread) noexcept {
          (*static_cast<const Body*>(body))(item, thread);
        }) {}

  void operator()(int64_t item, int thread) const { call_(body_, item, thread); }

 private:
  const void* body_;
  void (*call_)(const void*, int64_t, int) noexcept;
};

// Calls body(item, thread) once for each item in [0, count) and returns when all are done.
// `thread`, below num_threads, tells apart the items that run at the same time; the caller's is 0.
// Allocates and throws (EnvironmentError: no more threads) only when it needs more helpers than
// ever before.
void share_items(int64_t count, int num_threads, const ItemBody& body);

}  // namespace cloze::platform
