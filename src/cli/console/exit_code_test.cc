#include "cli/console/exit_code.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "base/error.h"
#include "platform/signals.h"
#include "train/divergence.h"

namespace cloze::cli {
namespace {

using std::filesystem::filesystem_error;

TEST(ExitCode, SaysWhoIsToBlame) {
  EXPECT_EQ(exit_code_of(UserError("x")), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(DataError("x")), ExitCode::kData);
  EXPECT_EQ(exit_code_of(EnvironmentError("x")), ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(platform::Interruption("x")), ExitCode::kSavedOnSignal);
  EXPECT_EQ(exit_code_of(std::bad_alloc()), ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(std::system_error(std::make_error_code(std::errc::no_space_on_device))),
            ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(train::DivergenceError("x")), ExitCode::kDiverged);
  const auto of_path = [](std::errc cause) {
    return filesystem_error("x", "y", std::make_error_code(cause));
  };
  EXPECT_EQ(exit_code_of(of_path(std::errc::permission_denied)), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(of_path(std::errc::filename_too_long)), ExitCode::kUsage);
  EXPECT_EQ(exit_code_of(of_path(std::errc::no_space_on_device)), ExitCode::kEnvironment);
  EXPECT_EQ(exit_code_of(InternalError("x")), ExitCode::kFailure);
  EXPECT_EQ(exit_code_of(std::runtime_error("x")), ExitCode::kFailure);
}

TEST(ExitCode, ErrorsOfTheStandardLibraryGetWordsOfOurs) {
  EXPECT_EQ(message_of(UserError("x is 3")), "x is 3");
  EXPECT_EQ(
      message_of(filesystem_error("rename", "y", std::make_error_code(std::errc::not_a_directory))),
      "cannot open y: Not a directory; check the path and who may use it");
  EXPECT_TRUE(message_of(std::bad_alloc()).starts_with("memory ran out: "));
}

}  // namespace
}  // namespace cloze::cli
