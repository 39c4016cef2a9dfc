#include "platform/child.h"

#include <gtest/gtest.h>

#include <thread>

namespace cloze::platform {
namespace {

using std::chrono::milliseconds;
using Output = ChildProgram::Output;

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

int code_of(ChildProgram& child) {
  for (int i = 0; i < 2000 && !child.exit_code(); ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  return child.exit_code().value_or(-1);
}

std::string errors_of(ChildProgram& child) {
  std::string all;
  for (int i = 0; i < 200 && !child.exit_code(); ++i) all += child.read_errors(milliseconds(50));
  return all + child.read_errors(milliseconds(50));
}

TEST(ChildProgram, SaysHowItEnded) {
  ChildProgram fine(shell("exit 0"), Output::kQuiet), bad(shell("exit 5"), Output::kQuiet);
  ChildProgram killed(shell("kill -9 $$"), Output::kQuiet);
  ChildProgram absent({"/no/such/program"}, Output::kQuiet);
  EXPECT_EQ(code_of(fine), 0);
  EXPECT_EQ(code_of(bad), 5);
  EXPECT_EQ(code_of(killed), 137);
  EXPECT_EQ(code_of(absent), 127);
}

TEST(ChildProgram, GivesWhatItWritesToStandardErrorAndNoInput) {
  ChildProgram child(shell("read line; echo \"<$line>\" >&2; echo two >&2"), Output::kWatched);
  EXPECT_EQ(errors_of(child), "<>\ntwo\n");
}

TEST(ChildProgram, IsAskedToStop) {
  ChildProgram child(shell("trap 'exit 75' USR1; echo ready >&2; while :; do sleep 0.01; done"),
                     Output::kWatched);
  while (child.read_errors(milliseconds(100)).empty()) {
  }
  child.ask_to_stop();
  EXPECT_EQ(code_of(child), 75);
}

TEST(ChildProgram, IsKilledWithItsGroup) {
  ChildProgram child(shell("sleep 100 & wait"), Output::kWatched);
  std::this_thread::sleep_for(milliseconds(50));
  child.kill();
  EXPECT_EQ(code_of(child), 137);
  EXPECT_EQ(child.read_errors(milliseconds(10000)), "");  // nobody has the pipe any more
}

TEST(FindProgram, LooksInPath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_FALSE(find_program("no-such-program"));
  EXPECT_TRUE(path_of_this_program().ends_with("platform_test"));
}

}  // namespace
}  // namespace cloze::platform
