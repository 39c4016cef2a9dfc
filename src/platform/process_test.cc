#include "platform/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

namespace cloze::platform {
namespace {

TEST(Process, HasANameAndANumber) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_GT(process_id(), 0);
}

TEST(Process, LowersThePriorityOfOneThread) {
  const int before = ::getpriority(PRIO_PROCESS, 0);
  int lowered = 0;
  std::thread([&] {
    lower_priority_of_thread();
    lowered = ::getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_EQ(lowered, std::max(before, 10));
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace cloze::platform
