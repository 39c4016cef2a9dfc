#include "plan/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace cloze::plan {
namespace {

struct Placed {
  int64_t begin, end;  // bytes
};

bool are_alive_together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The lowest gap of `bytes` between the placed ranges, which are sorted by begin.
int64_t lowest_gap(const std::vector<Placed>& placed, int64_t bytes) {
  int64_t begin = 0;
  for (const Placed& range : placed) {
    if (range.begin >= begin + bytes) break;
    begin = std::max(begin, range.end);
  }
  return begin;
}

}  // namespace

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });

  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> done;
  for (const size_t i : order) {
    std::vector<Placed> neighbours;
    for (const size_t j : done) {
      if (are_alive_together(lifetimes[i], lifetimes[j])) {
        neighbours.push_back({plan.offsets[j], plan.offsets[j] + aligned(lifetimes[j].bytes)});
      }
    }
    std::sort(neighbours.begin(), neighbours.end(),
              [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    const int64_t bytes = aligned(lifetimes[i].bytes);
    plan.offsets[i] = lowest_gap(neighbours, bytes);
    plan.total_bytes = std::max(plan.total_bytes, plan.offsets[i] + bytes);
    done.push_back(i);
  }
  return plan;
}

int64_t lower_bound_bytes(const std::vector<Lifetime>& lifetimes) {
  std::map<int64_t, int64_t> change;  // launch -> bytes that begin minus bytes that end before it
  for (const Lifetime& lifetime : lifetimes) {
    change[lifetime.first] += aligned(lifetime.bytes);
    change[lifetime.last + 1] -= aligned(lifetime.bytes);
  }
  int64_t alive = 0;
  int64_t most = 0;
  for (const auto& [launch, bytes] : change) {
    alive += bytes;
    most = std::max(most, alive);
  }
  return most;
}

}  // namespace cloze::plan
