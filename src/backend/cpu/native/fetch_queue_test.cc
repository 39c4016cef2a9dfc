#include "backend/cpu/native/fetch_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace cloze::backend::cpu {
namespace {

TEST(FetchQueue, IsEmptyWithoutBytes) {
  FetchQueue queue;
  EXPECT_TRUE(queue.is_empty());
  queue.add(&queue, 0);
  EXPECT_TRUE(queue.is_empty());
}

TEST(FetchQueue, TakesTheLinesOfEachRangeInOrder) {
  constexpr int64_t kLine = FetchQueue::kLineBytes;
  const std::vector<char> memory(static_cast<size_t>(12 * kLine));
  const char* first = memory.data();
  const char* second = first + 6 * kLine;
  const char* third = first + 10 * kLine;
  FetchQueue queue;
  queue.add(first, 4 * kLine + 1);  // five lines
  queue.add(second, 1);
  queue.add(third, 2 * kLine);
  std::vector<const char*> taken;
  while (!queue.is_empty()) taken.push_back(queue.take(2));
  EXPECT_EQ(taken,
            (std::vector<const char*>{first, first + 2 * kLine, first + 4 * kLine, second, third}));
}

}  // namespace
}  // namespace cloze::backend::cpu
