// A subcommand of the program and its options. The parser behind it (CLI11) is known to
// subcommand.cc, option_table.cc, arguments.cc, command_texts.cc and program.cc only: its headers
// cost more to compile than all of a command's own code.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cloze::cli {

// An option that was added, to say more about it.
class OptionHandle {
 public:
  explicit OptionHandle(CLI::Option* option) : option_(option) {}

  OptionHandle& required();
  OptionHandle& shows_default();  // the target's value now is shown in the help
  OptionHandle& excludes(OptionHandle other);
  OptionHandle& at_least(int smallest);

 private:
  CLI::Option* option_;
};

class Subcommand {
 public:
  explicit Subcommand(CLI::App& app) : app_(&app) {}

  Subcommand add_subcommand(const std::string& name, const std::string& help);
  void require_subcommand();

  // T: std::string, std::filesystem::path, bool (true or false is to follow), int, int64_t,
  // uint64_t, double, std::optional of int64_t and double, std::vector<std::string> (the flag is
  // given once for each). The target holds the default, and must outlive the parsing.
  template <typename T>
  OptionHandle add_option(const std::string& flag, T& target, const std::string& help);
  // set(value) as soon as the command line is read.
  OptionHandle add_setting(const std::string& flag, std::function<void(const std::string&)> set,
                           const std::string& help);
  OptionHandle add_flag(const std::string& flag, bool& target, const std::string& help);
  void set_action(std::function<void()> action);  // run when the subcommand was called

  CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace cloze::cli
