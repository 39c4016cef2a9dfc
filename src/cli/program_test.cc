#include "cli/program.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cli/exit_code.h"

namespace cloze::cli {
namespace {

ExitCode status_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "cloze");
  return static_cast<ExitCode>(run_program(static_cast<int>(arguments.size()), arguments.data()));
}

TEST(Program, HelpAndVersionSucceed) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(status_of({"--version"}), ExitCode::kSuccess);
  EXPECT_EQ(status_of({"data", "--help"}), ExitCode::kSuccess);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find("cloze "), 0u);
}

TEST(Program, WrongUsageIsTwoAndSaysSoOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(status_of({}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"tokenise"}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"tokenize", "--vocab", "/no/such/vocab.txt"}), ExitCode::kUsage);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("/no/such/vocab.txt"), std::string::npos);
}

TEST(Program, OptionsMayHaveUnderscores) {
  testing::internal::CaptureStderr();
  status_of({"data", "sample", "--output_dir=/no/such_place/x", "--megabytes", "-1"});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("output_dir"), std::string::npos) << text;
}

// What nobody got is no result.
TEST(Program, OutputThatCannotBeWrittenIsAFailure) {
  const auto fill_the_disk = [] {
    if (std::freopen("/dev/full", "w", stdout) == nullptr) std::exit(1);
    std::exit(static_cast<int>(status_of({"--version"})));
  };
  EXPECT_EXIT(fill_the_disk(), testing::ExitedWithCode(static_cast<int>(ExitCode::kEnvironment)),
              "standard output cannot be written to; is it full or closed");
}

}  // namespace
}  // namespace cloze::cli
