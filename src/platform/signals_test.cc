#include "platform/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace cloze::platform {
namespace {

// Raises SIGINT twice, with a pause in between, and exits with the signal that was asked to stop.
void press_twice(std::chrono::milliseconds pause) {
  install_stop_signals();
  std::raise(SIGINT);
  std::this_thread::sleep_for(pause);
  std::raise(SIGINT);
  ::_exit(stop_signal());
}

TEST(Signals, OnePressThatComesTwiceAsksToStop) {
  EXPECT_EXIT(press_twice(std::chrono::milliseconds(0)), testing::ExitedWithCode(SIGINT), "");
}

TEST(Signals, ASecondPressEndsTheProcess) {
  EXPECT_EXIT(press_twice(std::chrono::milliseconds(600)), testing::ExitedWithCode(128 + SIGINT),
              "");
}

}  // namespace
}  // namespace cloze::platform
