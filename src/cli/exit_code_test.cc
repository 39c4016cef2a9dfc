#include "cli/exit_code.h"

#include <gtest/gtest.h>

#include <new>

#include "base/error.h"
#include "platform/signals.h"
#include "train/divergence.h"

namespace cloze::cli {
namespace {

TEST(ExitCode, SaysWhoIsToBlame) {
  EXPECT_EQ(exit_code_of(UserError("x")), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(DataError("x")), ExitCode::kData);
  EXPECT_EQ(exit_code_of(EnvironmentError("x")), ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(platform::Interruption("x")), ExitCode::kSavedOnSignal);
  EXPECT_EQ(exit_code_of(std::bad_alloc()), ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(train::DivergenceError("x")), ExitCode::kDiverged);
  const auto of_path = [](std::errc cause) {
    return std::filesystem::filesystem_error("x", "y", std::make_error_code(cause));
  };
  EXPECT_EQ(exit_code_of(of_path(std::errc::permission_denied)), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(of_path(std::errc::filename_too_long)), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(of_path(std::errc::no_space_on_device)), ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(InternalError("x")), ExitCode::kFailure);
  EXPECT_EQ(exit_code_of(std::runtime_error("x")), ExitCode::kFailure);
}

}  // namespace
}  // namespace cloze::cli
