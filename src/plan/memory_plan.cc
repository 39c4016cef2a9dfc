#include "plan/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "base/division.h"

namespace cloze::plan {
namespace {

bool are_alive_together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, int64_t alignment) {
  const auto bytes_of = [&](size_t i) { return round_up(lifetimes[i].bytes, alignment); };
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });

  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> placed;  // by offset
  for (const size_t i : order) {
    const int64_t bytes = bytes_of(i);
    int64_t& offset = plan.offsets[i];
    for (const size_t j : placed) {
      if (!are_alive_together(lifetimes[i], lifetimes[j])) continue;
      if (plan.offsets[j] >= offset + bytes) break;
      offset = std::max(offset, plan.offsets[j] + bytes_of(j));
    }
    plan.total_bytes = std::max(plan.total_bytes, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](int64_t at, size_t j) { return at < plan.offsets[j]; }),
                  i);
  }
  return plan;
}

}  // namespace cloze::plan
