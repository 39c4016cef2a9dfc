// A subcommand of the program: its options and what it does. The parser behind it (CLI11) is known
// to subcommand.cc, option_table.cc, arguments.cc, command_texts.cc and program.cc only: its
// headers cost more to compile than all of a command's own code.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>

#include "cli/options/option_table.h"

namespace cloze::cli {

class Subcommand {
 public:
  explicit Subcommand(CLI::App& app) : app_(&app) {}

  // One that only holds others, of which one has to be named.
  Subcommand add_group(const std::string& name, const std::string& help);

  // add_options(table, options) adds the rows; run(options) or run(options, table) is called with
  // what the command was given.
  template <typename Options, typename Run>
  void add_command(const std::string& name, const std::string& help,
                   void (*add_options)(OptionTable&, Options&), Run run) {
    struct Command {
      Options options;
      OptionTable table;
    };
    const auto command = std::make_shared<Command>();
    add_options(command->table, command->options);
    add_action(name, help, command->table, [command, run] {
      command->table.resolve();
      if constexpr (std::invocable<Run, Options&, OptionTable&>) {
        run(command->options, command->table);
      } else {
        run(command->options);
      }
    });
  }

 private:
  void add_action(const std::string& name, const std::string& help, OptionTable& table,
                  std::function<void()> action);

  CLI::App* app_;
};

}  // namespace cloze::cli
