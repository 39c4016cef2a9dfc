// Values that no option takes, given to each option of each command: each is told by a sentence
// with the option and the value, and the command ends with 2 before it does anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "platform/files/own_folder_test.h"

namespace cloze::cli {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// What a command's help lists.
struct Help {
  std::set<std::string> commands, options, required;
};

Help help_of(const Words& command) {
  Help help;
  std::string text = run_command(joined(command, {"--help"})).out;
  if (text.find("\nSubcommands:") == std::string::npos) {
    text = run_command(joined(command, {"--help-all"})).out;
  }
  std::istringstream lines(text);
  bool lists_commands = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(':')) lists_commands = line == "Subcommands:";
    if (!line.starts_with("  ") || line.size() < 3 || line[2] == ' ') continue;
    std::istringstream words(line);
    std::string name, next;
    words >> name >> next;
    if (lists_commands) help.commands.insert(name);
    if (!name.starts_with("--")) continue;
    help.options.insert(name);
    if (next == "REQUIRED") help.required.insert(name);
  }
  return help;
}

struct Command {
  Words words;
  Help help;
};

void collect(const Words& words, std::vector<Command>& commands) {
  Help help = help_of(words);
  for (const std::string& name : help.commands) collect(joined(words, {name}), commands);
  if (help.commands.empty()) commands.push_back({words, std::move(help)});
}

class HostileValues : public platform::OwnFolderTest {
 protected:
  void SetUp() override {
    platform::OwnFolderTest::SetUp();
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    platform::OwnFolderTest::TearDown();
  }

  static CommandResult run(const Command& command, const std::string& option,
                           const std::string& value) {
    Words words = command.words;
    for (const std::string& required : command.help.required) {
      if (required != option) words.push_back(required + "=1");
    }
    return run_command(joined(words, {option + "=" + value}));
  }

  std::filesystem::path before_;
};

// They may be below 0, or say what they may be when it is known what they are about.
const std::set<std::string> kMayBeNegative = {"--null-score-diff-threshold",
                                              "--na-prob-thresh",
                                              "--max-samples",
                                              "--pad-position-value",
                                              "--dev-questions",
                                              "--held-out-sentences",
                                              "--train-questions",
                                              "--limit-alphabet",
                                              "--min-frequency",
                                              "--size"};

// By what an option says of "x". Texts may be any value, so there is none for them.
Words hostile_to(const std::string& option, const std::string& refusal) {
  if (refusal.find(option + " is ") == std::string::npos) return {};
  const auto says = [&](const char* text) { return refusal.find(text) != std::string::npos; };
  if (says("it must be true or false")) return {"x", "nan", "2", "-1", "1e-46"};
  if (says("choose one of")) return {"x", "nan", "-1", "1e400"};
  const bool is_whole = says("it must be a whole number");
  const bool is_number = is_whole || says("it must be a number") || says("give numbers by step");
  if (!is_number) return {};
  Words values = {"x", "nan", "inf", "-inf", "1e400", "-1e400", "1e39", "1e-46", "5e-324", "0x10"};
  if (is_whole) values = joined(values, {"1.5", "18446744073709551616", "-9223372036854775809"});
  if (!kMayBeNegative.contains(option)) values.push_back("-1");
  return values;
}

TEST_F(HostileValues, AreToldByEachOptionOfEachCommand) {
  std::vector<Command> commands;
  collect({}, commands);
  EXPECT_GE(commands.size(), 25u);
  std::set<std::string> seen;  // rows that several commands share say the same
  int told = 0;
  for (const Command& command : commands) {
    for (const std::string& option : command.help.options) {
      if (option == "--help-all" || option == "--config") continue;
      const std::string refusal = run(command, option, "x").error;
      if (!seen.insert(option + refusal).second) continue;
      for (const std::string& value : hostile_to(option, refusal)) {
        const CommandResult result = run(command, option, value);
        EXPECT_EQ(result.status, ExitCode::kUsage) << option << " " << value << result.error;
        EXPECT_NE(result.error.find(option + " is "), std::string::npos)
            << command.words.front() << " " << option << " " << value << ": " << result.error;
        ++told;
      }
    }
  }
  EXPECT_GE(told, 1000);
}

}  // namespace
}  // namespace cloze::cli
