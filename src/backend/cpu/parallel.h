// Sharing out work over threads, always in the same way: part p of the work is the same range
// whichever thread takes it, so results depend on nothing but the number of parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/division.h"
#include "platform/thread_team.h"

namespace cloze::backend::cpu {

struct Work {
  int64_t items = 0;
  int64_t granularity = 1;  // parts begin at multiples of this many items
  int64_t least_items = 1;  // fewer are not worth a part of their own
  int num_threads = 1;
};

// Where a part begins and ends, and the thread that has it: which scratch memory to use.
struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  int thread = 0;

  int64_t size() const { return end - begin; }
};

// More parts than threads: a thread that comes late, or loses its processor, leaves them to others.
inline constexpr int64_t kPartsPerThread = 4;

// One for a single thread.
inline int64_t num_parts(const Work& work) {
  if (work.num_threads <= 1) return 1;
  const int64_t wanted = divide_up(work.items, std::max(work.least_items, work.granularity));
  return std::clamp<int64_t>(wanted, 1, work.num_threads * kPartsPerThread);
}

inline Part part_of(const Work& work, int64_t parts, int64_t index) {
  const int64_t units = divide_up(work.items, work.granularity);
  const auto border = [&](int64_t i) {
    return std::min(units * i / parts * work.granularity, work.items);
  };
  return {border(index), border(index + 1)};
}

// body(i, thread) for i in [0, count), handed out to whichever thread is free; for independent
// results. body must not throw.
template <class Body>
void for_each_item(int64_t count, int num_threads, const Body& body) {
  platform::share_items(count, num_threads, platform::ItemBody(body));
}

// body(part) for each part, handed out likewise.
template <class Body>
void for_each_part(const Work& work, const Body& body) {
  const int64_t parts = num_parts(work);
  for_each_item(parts, work.num_threads, [&](int64_t index, int thread) {
    Part part = part_of(work, parts, index);
    part.thread = thread;
    body(part);
  });
}

// The most threads that have a part at the same time; there is scratch memory for that many.
inline int num_workers(const Work& work) {
  return static_cast<int>(std::min<int64_t>(num_parts(work), std::max(work.num_threads, 1)));
}

}  // namespace cloze::backend::cpu
