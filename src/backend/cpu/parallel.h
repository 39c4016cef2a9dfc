// Sharing out work over threads, always in the same way: part p of the work is the same range
// whichever thread runs it, so results depend on nothing but the number of parts.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cloze::backend::cpu {

struct Work {
  int64_t items = 0;
  int64_t granularity = 1;  // parts begin at multiples of this many items
  int64_t least_items = 1;  // not worth a thread of its own below this
  int num_threads = 1;
};

// Where a part begins and ends; index counts parts and so names a thread's scratch memory.
struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  int index = 0;

  int64_t size() const { return end - begin; }
};

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// At most num_threads.
inline int num_parts(const Work& work) {
  const int64_t wanted = divide_up(work.items, std::max(work.least_items, work.granularity));
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, std::max(work.num_threads, 1)));
}

inline Part part_of(const Work& work, int parts, int index) {
  const int64_t units = divide_up(work.items, work.granularity);
  const auto border = [&](int64_t i) {
    return std::min(units * i / parts * work.granularity, work.items);
  };
  return {border(index), border(index + 1), index};
}

// body(part) for each part, each on its own thread; body must not throw.
template <class Body>
void for_each_part(const Work& work, const Body& body) {
  const int parts = num_parts(work);
  if (parts == 1) {
    body(Part{0, work.items, 0});
    return;
  }
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int i = 0; i < parts; ++i) body(part_of(work, parts, i));
}

// body(i) for i in [0, count), handed out to whichever thread is free; for independent results.
template <class Body>
void for_each_item(int64_t count, int num_threads, const Body& body) {
  if (count == 1 || num_threads <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for num_threads(num_threads) schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace cloze::backend::cpu
