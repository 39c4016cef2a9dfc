#include "cli/options/arguments.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "base/error.h"

namespace cloze::cli {
namespace {

std::vector<std::string> words(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "cloze");
  return command_line_words(static_cast<int>(arguments.size()), arguments.data());
}

class CheckWords : public testing::Test {
 protected:
  CheckWords() : program_("", "cloze") {
    CLI::App* data = program_.add_subcommand("data");
    CLI::App* records = data->add_subcommand("records");
    records->add_option("--input-file");
    records->add_option("--remask")->expected(0, 1);
    records->add_flag("--skip-bad");
    records->add_option("--text")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    data->add_subcommand("tokens");
    program_.add_subcommand("pretrain");
  }
  std::string refusal(const std::vector<std::string>& words) {
    try {
      check_words(program_, words);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  CLI::App program_;
};

TEST(CommandLineWords, HaveOneSpellingAndEmptyValuesOfTheirOwn) {
  EXPECT_EQ(
      words({"data", "--save_path=a_b", "--save-path=", "x", "a_b", "--"}),
      (std::vector<std::string>{"data", "--save-path=a_b", "--save-path", "", "x", "a_b", "--"}));
}

TEST_F(CheckWords, CommandsThatAreNotThereAreNamedWithTheNearest) {
  EXPECT_EQ(refusal({"pretrian"}), "cloze has no command \"pretrian\"; did you mean pretrain?");
  EXPECT_EQ(refusal({"data", "recods", "--x"}),
            "cloze data has no command \"recods\"; did you mean records?");
  EXPECT_EQ(refusal({"zzzzzzzz"}), "cloze has no command \"zzzzzzzz\"; it has data, pretrain");
  EXPECT_EQ(refusal({"data", "--help"}), "accepted");
  EXPECT_EQ(refusal({}), "accepted") << "the parser asks for a command";
}

TEST_F(CheckWords, UnknownOptionsAreNamedWithTheNearest) {
  EXPECT_EQ(refusal({"data", "records", "--imput-file", "a"}),
            "unknown option --imput-file; did you mean --input-file?");
  EXPECT_EQ(refusal({"data", "records", "--zzzzzzzz=3"}),
            "unknown option --zzzzzzzz; cloze data records --help-all lists all");
}

TEST_F(CheckWords, AnOptionGivenTwiceNamesBothValues) {
  EXPECT_EQ(refusal({"data", "records", "--input-file", "a", "--input-file=b"}),
            "--input-file is given twice, as \"a\" and as \"b\"; give it once");
  EXPECT_EQ(refusal({"data", "records", "--remask", "--input-file", "a", "--remask", "false"}),
            "--remask is given twice, as \"true\" and as \"false\"; give it once");
  EXPECT_EQ(refusal({"data", "records", "--skip-bad", "--skip-bad"}),
            "--skip-bad is given twice, as \"true\" and as \"true\"; give it once");
  EXPECT_EQ(refusal({"data", "records", "--text", "a", "--text", "b"}), "accepted");
  EXPECT_EQ(refusal({"data", "records", "--input-file", "--remask", "--remask"}), "accepted")
      << "the first --remask is a file's name";
}

// Of a command that takes words.
TEST(BareSwitches, LeaveTheNextWordAlone) {
  CLI::App program("", "cloze");
  CLI::App* import = program.add_subcommand("import");
  import->add_option("files");
  import->add_option("--without-planned")->expected(0, 1);
  import->add_option("--output-file");
  const auto after = [&](const std::vector<std::string>& words) {
    return with_bare_switches(program, words);
  };
  EXPECT_EQ(after({"import", "--without-planned", "a.json", "--output-file", "b"}),
            (std::vector<std::string>{"import", "--without-planned=true", "a.json", "--output-file",
                                      "b"}));
  for (const std::vector<std::string>& same :
       {std::vector<std::string>{"import", "a.json", "--without-planned", "false"},
        {"import", "--without-planned", "--output-file", "b"},
        {"import", "a.json", "--without-planned"}}) {
    EXPECT_EQ(after(same), same);
  }
}

}  // namespace
}  // namespace cloze::cli
