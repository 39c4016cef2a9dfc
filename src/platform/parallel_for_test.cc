#include "platform/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace cloze::platform {
namespace {

TEST(ParallelForTest, EveryItemOnce) {
  for (int threads : {1, 2, 5}) {
    for (int64_t count : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
      parallel_for(count, threads, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
      for (const auto& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST(ParallelForTest, AnExceptionComesOutAndStopsTheWork) {
  std::atomic<int> done{0};
  const auto body = [&](int64_t i) {
    if (i == 3) throw std::runtime_error("item 3");
    ++done;
  };
  EXPECT_THROW(parallel_for(1'000'000, 4, body), std::runtime_error);
  EXPECT_LT(done, 1'000'000);
}

}  // namespace
}  // namespace cloze::platform
