#include "engine/session.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

#include "platform/child.h"

namespace cloze::engine {
namespace {

void bind_to_one_processor() {
  cpu_set_t allowed;
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  CPU_ZERO(&allowed);
  CPU_SET(first, &allowed);
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

TEST(ResolvedThreads, NoneChosenIsOneForEachProcessorThatTheProcessMayUse) {
  const Result<std::string> threads = platform::bytes_from_child(
      [] {
        bind_to_one_processor();
        return std::to_string(resolved_threads(0));
      },
      10);
  EXPECT_EQ(threads.value(), "1");
}

TEST(ResolvedThreads, AChosenNumberIsTaken) { EXPECT_EQ(resolved_threads(3), 3); }

TEST(ResolvedThreads, ImpossibleNumbersAreRefused) {
  EXPECT_THROW(resolved_threads(-1), UserError);
  EXPECT_THROW(resolved_threads(1025), UserError);
}

}  // namespace
}  // namespace cloze::engine
