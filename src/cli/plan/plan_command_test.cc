#include "cli/plan/plan_command.h"

#include <gtest/gtest.h>

#include <string>

#include "cli/run_command_test.h"

namespace cloze::cli {
namespace {

TEST(Plan, ANetworkWithoutRatesIsRefusedBeforeAnythingIsPlanned) {
  const CommandResult refused = run_command({"plan", "--network-file", "/no/such/network"});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.error.find("--network-file /no/such/network says how ranks are connected"),
            std::string::npos)
      << refused.error;
}

}  // namespace
}  // namespace cloze::cli
