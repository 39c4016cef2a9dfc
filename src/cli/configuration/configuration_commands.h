// `cloze config print COMMAND` and `cloze config schema COMMAND`, for each command that reads
// configuration files.
#pragma once

#include <string>
#include <utility>

#include "cli/options/subcommand.h"
#include "cli/run/resumed_options.h"

namespace cloze::cli {

class ConfigurationCommands {
 public:
  explicit ConfigurationCommands(Subcommand config);

  // Takes the commands of a group, such as `finetune`; `example` is one of them.
  ConfigurationCommands group(const std::string& name, const std::string& example);
  // With the options that the command itself has. `print` shows those of a run that --restore-dir
  // names, as the command takes them.
  template <typename Options, typename Table>
  void add(const std::string& name, void (*add_options)(Table&, Options&)) {
    const std::string command = group_ + name;
    print_.add_command(name,
                       {"Every value of cloze " + command + ", and where it came from",
                        "cloze config print " + command},
                       add_options, [](Options& options, Table& table) {
                         take_options_of_run(table, options);
                         print_values(table);
                       });
    schema_.add_command(name,
                        {"JSON schema of the files that cloze " + command + " --config takes",
                         "cloze config schema " + command + " > " + name + ".schema.json"},
                        add_nothing, [add_options](Nothing&) {
                          Options options;
                          Table table;
                          add_options(table, options);
                          print_schema(table);
                        });
  }

 private:
  ConfigurationCommands(Subcommand print, Subcommand schema, std::string group)
      : group_(std::move(group)), print_(std::move(print)), schema_(std::move(schema)) {}

  struct Nothing {};
  static void add_nothing(OptionTable& table, Nothing& options);
  static void print_values(const OptionTable& table);
  static void print_schema(const OptionTable& table);

  std::string group_;  // "finetune ", before the names of its commands; empty: none
  Subcommand print_, schema_;
};

}  // namespace cloze::cli
