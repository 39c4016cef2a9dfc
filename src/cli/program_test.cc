#include "cli/run_command_test.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::cli {
namespace {

TEST(Program, HelpAndVersionSucceed) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(status_of({"--version"}), ExitCode::kSuccess);
  EXPECT_EQ(status_of({"data", "--help"}), ExitCode::kSuccess);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find("cloze "), 0u);
}

// They cover the options of every command, although otherwise only the named command gets its
// options.
TEST(Program, TheManualAndTheCompletionHaveAllOptions) {
  for (const char* text : {"--manual", "--completion"}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(status_of({text}), ExitCode::kSuccess);
    const std::string page = testing::internal::GetCapturedStdout();
    for (const char* option : {"remask", "clients", "recompute", "stride"}) {
      EXPECT_NE(page.find(option), std::string::npos) << text << " " << option;
    }
  }
}

TEST(Program, WrongUsageIsTwoAndSaysSoOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(status_of({}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"tokenise"}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"tokenize", "--vocab-file", "/no/such/vocab.txt"}), ExitCode::kUsage);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("/no/such/vocab.txt"), std::string::npos);
}

TEST(Program, OptionsMayHaveUnderscores) {
  testing::internal::CaptureStderr();
  status_of({"data", "tokens", "--output_dir=/no/such_place/x", "--input_file=/no/such"});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("output_dir"), std::string::npos) << text;
}

// A file that is written is --output-file everywhere, a folder --output-dir (or --save-path, where
// training saves), a vocabulary that is read --vocab-file.
TEST(Program, OutputsAndVocabulariesHaveOneName) {
  const std::vector<std::vector<std::string>> commands = {{"tokenize"},
                                                          {"pretrain"},
                                                          {"squad"},
                                                          {"glue"},
                                                          {"convert"},
                                                          {"compile"},
                                                          {"data", "convert"},
                                                          {"data", "records"},
                                                          {"data", "squad"},
                                                          {"data", "tokens"},
                                                          {"data", "vocabulary"},
                                                          {"data", "wikipedia"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--help");
    testing::internal::CaptureStdout();
    EXPECT_EQ(status_of(command), ExitCode::kSuccess);
    const std::string help = testing::internal::GetCapturedStdout();
    for (const char* other : {"--output-path", "--output ", "--vocab ", "--vocabulary "}) {
      EXPECT_EQ(help.find(other), std::string::npos) << command.front() << " " << other;
    }
    EXPECT_NE(help.find(command.front() == std::string_view("tokenize") ? "--vocab-file"
                        : help.find("--save-path") != std::string::npos ? "--save-path"
                                                                        : "--output-"),
              std::string::npos)
        << command.front();
  }
}

TEST(Program, WordsThatAreNotUnderstoodAreNamed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(status_of({"pretrian"}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"tokenize", "--vocab-file=", "x"}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"launch", "-n", "2", "--", "foo"}), ExitCode::kUsage);
  EXPECT_EQ(status_of({"plan", "--threads", "1", "--threads=2"}), ExitCode::kUsage);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("cloze: cloze has no command \"pretrian\"; did you mean pretrain?\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cloze: cloze has no command \"foo\"; "), std::string::npos) << text;
  EXPECT_NE(text.find("cloze: --threads is given twice, as \"1\" and as \"2\"; give it once\n"),
            std::string::npos)
      << text;
}

// 0 when the plan says so; in a process of its own, as a limit cannot be lifted.
int plan_names_avx2() {
  testing::internal::CaptureStdout();
  const ExitCode status = status_of({"plan", "--kernels", "--instruction-set", "avx2"});
  const std::string text = testing::internal::GetCapturedStdout();
  if (status != ExitCode::kSuccess) return 1;
  if (text.find("\ninstruction set avx2\n") == std::string::npos) return 2;
  return text.find(" cpu/linear/blocked ") == std::string::npos ? 3 : 0;
}

TEST(ProgramDeathTest, AnInstructionSetLimitsTheKernels) {
  EXPECT_EXIT(std::exit(plan_names_avx2()), testing::ExitedWithCode(0), "");
}

TEST(Program, EveryCommandThatComputesNamesTheInstructionSetsThereAre) {
  for (const char* command : {"answer", "classify", "compile", "embed", "fill", "glue", "latency",
                              "plan", "pretrain", "serve", "similarity", "squad", "tag"}) {
    std::vector<std::string> arguments{command, "--instruction-set", "avx9"};
    if (std::string_view("answer classify compile embed fill serve similarity tag").find(command) != std::string::npos) {
      arguments.insert(arguments.end(), {"--init-checkpoint", "x"});
    }
    if (std::string_view("compile") == command) {
      arguments.insert(arguments.end(), {"--output-file", "x"});
    }
    testing::internal::CaptureStderr();
    EXPECT_EQ(status_of(arguments), ExitCode::kUsage) << command;
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("--instruction-set is \"avx9\"; choose one of auto, avx2, avx512, "
                        "avx512_bf16, amx"),
              std::string::npos)
        << command << ": " << text;
  }
}

// One spelling of mistakes for all commands.
TEST(Program, ValuesThatAreWrongAreNamedWithTheirOptionAndWhatIsRight) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> mistakes = {
      {{"data", "packing", "--algorithm", "best"},
       "--algorithm is \"best\"; choose one of spfhp, lpfhp, nnlshp"},
      {{"latency", "--batch-size", "0"}, "--batch-size is 0; it must be at least 1"},
      {{"latency", "--batch-size=many"}, "--batch-size is \"many\"; it must be a whole number"},
      {{"data", "packing", "lengths.txt"},
       "argument \"lengths.txt\" is not understood; options begin with --"},
      {{"tokenize", "--vocab-file", "x", "--cased=maybe"},
       "--cased is \"maybe\"; it must be true or false"},
      {{"data", "records"},
       "cloze: --input-file is required; cloze data records --help-all lists all"},
      {{"data", "records", "--input-file"},
       "cloze: --input-file has no value; cloze data records --help-all lists all"}};
  for (const auto& [arguments, message] : mistakes) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(status_of(arguments), ExitCode::kUsage) << message;
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find(message), std::string::npos) << text;
  }
}

// Output that was lost must not count as success.
TEST(Program, OutputThatCannotBeWrittenIsAFailure) {
  const auto fill_the_disk = [] {
    if (std::freopen("/dev/full", "w", stdout) == nullptr) std::exit(1);
    std::exit(static_cast<int>(status_of({"--version"})));
  };
  EXPECT_EXIT(fill_the_disk(), testing::ExitedWithCode(static_cast<int>(ExitCode::kEnvironment)),
              "standard output cannot be written to; is it full or closed");
}

TEST(Program, MessagesThatCannotBeWrittenAreLost) {
  const auto fill_the_disk = [] {
    if (std::freopen("/dev/full", "w", stderr) == nullptr) std::exit(1);
    std::exit(static_cast<int>(status_of({"data", "records"})));
  };
  EXPECT_EXIT(fill_the_disk(), testing::ExitedWithCode(static_cast<int>(ExitCode::kUsage)), "");
}

}  // namespace
}  // namespace cloze::cli
