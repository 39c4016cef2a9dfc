#include "backend/cpu/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace cloze::backend::cpu {
namespace {

void expect_parts_cover(const Work& work) {
  const int64_t parts = num_parts(work);
  int64_t expected_begin = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const Part part = part_of(work, parts, i);
    EXPECT_EQ(part.begin, expected_begin);
    EXPECT_TRUE(part.begin % work.granularity == 0 || part.begin == work.items);
    expected_begin = part.end;
  }
  EXPECT_EQ(expected_begin, work.items);
}

TEST(Parallel, PartsCoverTheItemsOnceAndBeginOnBorders) {
  for (const int64_t items : {0, 1, 15, 16, 17, 63, 1000}) {
    for (const int64_t granularity : {1, 16, 64}) {
      for (const int threads : {1, 2, 3, 7, 64}) {
        expect_parts_cover({.items = items, .granularity = granularity, .num_threads = threads});
      }
    }
  }
}

TEST(Parallel, SmallWorkIsNotSplit) {
  EXPECT_EQ(num_parts({.items = 100, .least_items = 100, .num_threads = 8}), 1);
  EXPECT_EQ(num_parts({.items = 101, .least_items = 100, .num_threads = 8}), 2);
  EXPECT_EQ(num_parts({.items = 100000, .least_items = 100, .num_threads = 1}), 1);
  EXPECT_EQ(num_parts({.items = 10, .num_threads = 0}), 1);
}

TEST(Parallel, LargeWorkHasPartsLeftForAThreadThatIsFree) {
  EXPECT_EQ(num_parts({.items = 100000, .least_items = 100, .num_threads = 8}),
            8 * kPartsPerThread);
}

TEST(Parallel, ScratchMemoryIsForThreadsAndNotForParts) {
  const Work work{.items = 1000, .num_threads = 2};
  EXPECT_EQ(num_workers(work), 2);
  std::atomic<bool> is_taken[2] = {};
  for_each_part(work, [&](const Part& part) {
    EXPECT_FALSE(is_taken[part.thread].exchange(true));
    is_taken[part.thread] = false;
  });
  EXPECT_EQ(num_workers({.items = 1, .num_threads = 2}), 1);
  EXPECT_EQ(num_workers({.items = 5, .num_threads = 0}), 1);
}

// A thread that spins while there is nothing to do takes a neighbour's processor.
TEST(Parallel, ThreadsThatWaitSleep) {
  constexpr int kCalls = 20;
  const std::clock_t before = std::clock();
  for (int call = 0; call < kCalls; ++call) {
    for_each_part({.items = 8, .num_threads = 2}, [](const Part&) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds / kCalls, 1e-3);
}

TEST(Parallel, EveryItemIsVisitedOnce) {
  std::vector<int> visits(1003);
  for_each_part({.items = 1003, .num_threads = 3}, [&](const Part& part) {
    for (int64_t i = part.begin; i < part.end; ++i) ++visits[static_cast<size_t>(i)];
  });
  for_each_item(1003, 3, [&](int64_t i, int) { ++visits[static_cast<size_t>(i)]; });
  EXPECT_EQ(visits, std::vector<int>(1003, 2));
}

}  // namespace
}  // namespace cloze::backend::cpu
