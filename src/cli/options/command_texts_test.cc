#include "cli/options/command_texts.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <regex>
#include <string>

#include "cli/console/exit_code.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

class CommandTexts : public testing::Test {
 protected:
  CommandTexts() {
    CLI::App* data = program_.add_subcommand("data", "Make training data");
    CLI::App* records = data->add_subcommand("records", "Make records");
    records->footer("cloze data records --mask-tokens 3");
    records->add_option("--mask-tokens", "Predictions in a record, at most M");
    records->add_option("--pipeline-stages", "of another system")->group("");
    program_.add_subcommand("fill", "Fill blanks")->add_option("--text", ".dots and back\\slashes");
  }

  // What bash offers for the words of a command line, the last of which is being typed.
  std::string completions(const std::string& words) const {
    const std::string script = testing::TempDir() + "completion.bash";
    platform::write_file_atomically(
        script, bash_completion(program_) + "COMP_WORDS=(" + words + ")\n" +
                    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_cloze\necho \"${COMPREPLY[*]}\"\n");
    FILE* pipe = popen(("bash " + script).c_str(), "r");
    std::string text;
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    pclose(pipe);
    return text;
  }

  CLI::App program_{"trains BERT", "cloze"};
};

TEST_F(CommandTexts, BashCompletesCommandsAndTheirOptions) {
  EXPECT_EQ(completions("cloze f"), "fill\n");
  EXPECT_EQ(completions("cloze data ''"), "records --help\n");
  EXPECT_EQ(completions("cloze data records --m"), "--mask-tokens\n");
  EXPECT_EQ(completions("cloze fill --text x --t"), "--text\n");
}

TEST_F(CommandTexts, OptionsOfOtherSystemsAreNotOffered) {
  EXPECT_EQ(completions("cloze data records --pipe"), "\n");
  EXPECT_EQ(manual_page(program_, "0.1").find("pipeline"), std::string::npos);
}

TEST_F(CommandTexts, TheManualPageSaysEveryExitStatus) {
  const std::string page = manual_page(program_, "0.1");
  const std::string statuses = page.substr(page.find(".SH EXIT STATUS"));
  for (const ExitCode code : {ExitCode::kSuccess, ExitCode::kFailure, ExitCode::kUsage,
                              ExitCode::kData, ExitCode::kEnvironment, ExitCode::kDiverged,
                              ExitCode::kMissedTarget, ExitCode::kSavedOnSignal}) {
    const std::regex number("(^|[\\n ])" + std::to_string(static_cast<int>(code)) + " [a-z]");
    EXPECT_TRUE(std::regex_search(statuses, number)) << static_cast<int>(code) << statuses;
  }
}

TEST_F(CommandTexts, TheManualPageNamesEveryCommandAndEscapesItsText) {
  const std::string page = manual_page(program_, "0.1");
  for (const char* part :
       {".TH CLOZE 1 \"\" \"cloze 0.1\"\n", ".SS cloze data records\nMake records\n",
        "\n.PP\n.RS\ncloze data records \\-\\-mask\\-tokens 3\n.RE\n",
        ".B \\-\\-mask\\-tokens\nPredictions in a record, at most M\n",
        "\\&.dots and back\\eslashes\n", ".SH EXIT STATUS\n"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << page;
  }
}

}  // namespace
}  // namespace cloze::cli
