#include "plan/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/division.h"
#include "base/philox.h"

namespace cloze::plan {
namespace {

constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) { return round_up(bytes, kAlignment); }

// No plan can be smaller: the most bytes alive at one launch.
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

TEST(MemoryPlan, ReusesWhatHasDied) {
  // a is dead when c is born, so c takes its place.
  const MemoryPlan plan = plan_memory({{1024, 0, 1}, {512, 1, 2}, {1024, 2, 3}}, kAlignment);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_EQ(plan.total_bytes, 1024 + 512);
}

TEST(MemoryPlan, EmptyIsEmpty) { EXPECT_EQ(plan_memory({}, kAlignment).total_bytes, 0); }

TEST(MemoryPlan, RandomLifetimesNeverOverlapAndStayNearTheLowerBound) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    PhiloxStream random(seed, 0);
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 80; ++i) {
      const int64_t first = random.below(100);
      lifetimes.push_back(
          {1 + static_cast<int64_t>(random.below(10000)), first, first + random.below(20)});
    }
    const MemoryPlan plan = plan_memory(lifetimes, kAlignment);
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % kAlignment, 0);
      for (size_t j = 0; j < i; ++j) {
        const bool together =
            lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
        const bool overlap = plan.offsets[i] < plan.offsets[j] + lifetimes[j].bytes &&
                             plan.offsets[j] < plan.offsets[i] + lifetimes[i].bytes;
        EXPECT_FALSE(together && overlap) << "seed " << seed << ": buffers " << i << ", " << j;
      }
    }
    EXPECT_GE(plan.total_bytes, lower_bound_bytes(lifetimes));
    EXPECT_LE(plan.total_bytes, 2 * lower_bound_bytes(lifetimes));
  }
}

}  // namespace
}  // namespace cloze::plan
