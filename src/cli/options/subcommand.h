// A subcommand of the program: its options and what it does. Only subcommand.cc, option_table.cc,
// arguments.cc, command_texts.cc and program.cc include the parser (CLI11), because its headers
// take longer to compile than all of a command's own code.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/console/spelling.h"
#include "cli/options/option_table.h"

namespace cloze::cli {

// The help says what a command does; the example is a command line of it, as one would type it.
struct CommandText {
  std::string help;
  std::string example;
};

// OptionTable::check_use(), which it prints.
void check_use(const OptionTable& table);

class Subcommand {
 public:
  // Only the command that `words` begin with gets its options, because the options of all commands
  // would cost 20 ms at each start. Without words all commands get theirs.
  Subcommand(CLI::App& app, std::optional<std::vector<std::string>> words)
      : app_(&app), words_(std::move(words)) {}

  // One that only holds others, of which one has to be named.
  Subcommand add_group(const std::string& name, const CommandText& text);

  // add_options(table, options) adds the rows; run(options) is called with what the command was
  // given, once check_use() has passed; run(options, table) calls that itself.
  template <typename Options, typename Run>
  void add_command(const std::string& name, const CommandText& text,
                   void (*add_options)(OptionTable&, Options&), Run run) {
    CLI::App& app = add(name, text);
    if (!is_named(name)) return;
    struct Command {
      Options options;
      OptionTable table;
    };
    const auto command = std::make_shared<Command>();
    add_options(command->table, command->options);
    set_action(app, command->table, [command, run] {
      set_spelling([command](std::string_view name) { return command->table.spelled(name); });
      command->table.resolve();
      if constexpr (std::invocable<Run, Options&, OptionTable&>) {
        run(command->options, command->table);
      } else {
        check_use(command->table);
        run(command->options);
      }
    });
  }

 private:
  CLI::App& add(const std::string& name, const CommandText& text);
  bool is_named(const std::string& name) const;
  static void set_action(CLI::App& app, OptionTable& table, std::function<void()> action);

  CLI::App* app_;
  std::optional<std::vector<std::string>> words_;  // of the command line, from here on
};

// Sets the options as the words after a command's name say. For a program that has to know what
// another process will read from its command line. UserError when they cannot be read.
void resolve_words(OptionTable& table, std::vector<std::string> words);

}  // namespace cloze::cli
