#include "cli/launch/mpirun_command.h"

#include <gtest/gtest.h>

namespace cloze::cli {
namespace {

using Words = std::vector<std::string>;

std::string line_of(const MpirunSetting& setting) { return shell_line(mpirun_command(setting)); }

TEST(MpirunCommand, OnOneMachine) {
  EXPECT_EQ(
      line_of({.processes = 4, .remote_shell = "ssh", .command = {"cloze", "pretrain"}}),
      "mpirun -n 4 --bind-to none -x CLOZE_SHARES_PROCESSORS=1 --oversubscribe cloze pretrain");
}

TEST(MpirunCommand, SetsWhatRootAndContainersNeedOnlyThere) {
  EXPECT_EQ(
      line_of({.processes = 2,
               .is_superuser = true,
               .can_read_others = false,
               .command = {"cloze", "pretrain"}}),
      "mpirun -n 2 --allow-run-as-root --bind-to none -x CLOZE_SHARES_PROCESSORS=1 --mca "
      "btl_vader_single_copy_mechanism none --oversubscribe --mca plm isolated cloze pretrain");
}

TEST(MpirunCommand, OnHosts) {
  MpirunSetting setting{
      .processes = 4, .hosts_file = "hosts", .remote_shell = "/bin/rsh", .command = {"cloze"}};
  EXPECT_EQ(line_of(setting),
            "mpirun -n 4 --bind-to none -x CLOZE_SHARES_PROCESSORS=1 --hostfile hosts --mca "
            "plm_rsh_agent /bin/rsh cloze");
  setting.hosts = {{"a", 2}, {"b", 1}};
  EXPECT_EQ(line_of(setting),
            "mpirun -n 4 --bind-to none -x CLOZE_SHARES_PROCESSORS=1 --host a:2,b:1 --mca "
            "plm_rsh_agent /bin/rsh cloze");
}

TEST(ShellLine, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_line({"a", "", "b c", "it's", "--x={1}"}), "a '' 'b c' 'it'\\''s' '--x={1}'");
}

TEST(LaunchedCommand, IsWhatComesAfterTheBorder) {
  Words words{"launch", "-n", "4", "--", "pretrain", "-n", "--", "x"};
  EXPECT_EQ(take_launched_command(words), (Words{"pretrain", "-n", "--", "x"}));
  EXPECT_EQ(words, (Words{"launch", "--processes", "4"}));
  Words other{"pretrain", "--", "x"};
  EXPECT_EQ(take_launched_command(other), Words{});
  EXPECT_EQ(other.size(), 3u);
}

}  // namespace
}  // namespace cloze::cli
