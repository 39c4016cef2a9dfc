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
  const std::vector<char> memory(static_cast<size_t>(12 * kLineBytes));
  const char* first = memory.data();
  const char* second = first + 6 * kLineBytes;
  const char* third = first + 10 * kLineBytes;
  FetchQueue queue;
  queue.add(first, 4 * kLineBytes + 1);  // five lines
  queue.add(second, 1);
  queue.add(third, 2 * kLineBytes);
  std::vector<const char*> taken;
  while (!queue.is_empty()) taken.push_back(queue.take(2));
  EXPECT_EQ(taken, (std::vector<const char*>{first, first + 2 * kLineBytes, first + 4 * kLineBytes,
                                             second, third}));
}

}  // namespace
}  // namespace cloze::backend::cpu
