// Memory planner: where each buffer lies in one arena, so that no two that are alive together
// overlap.
//
// Greedy by size: the largest buffer first, each at the lowest address that is free for its whole
// life. Knows nothing of graphs or kernels. Source of the method: Pisarchyk, Lee, arXiv 2001.03288.
#pragma once

#include <cstdint>
#include <vector>

namespace cloze::plan {

struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0;  // index of the launch that writes it
  int64_t last = 0;   // index of the last launch that reads it, first <= last
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // bytes, one per lifetime, multiples of the alignment
  int64_t total_bytes = 0;
};

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes, int64_t alignment);

}  // namespace cloze::plan
