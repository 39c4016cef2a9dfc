#include "cli/subcommand.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace cloze::cli {

Subcommand Subcommand::add_group(const std::string& name, const std::string& help) {
  CLI::App* group = app_->add_subcommand(name, help);
  group->require_subcommand();
  return Subcommand(*group);
}

void Subcommand::add_action(const std::string& name, const std::string& help, OptionTable& table,
                            std::function<void()> action) {
  CLI::App* command = app_->add_subcommand(name, help);
  table.add_flags(*command);
  command->callback(std::move(action));
}

}  // namespace cloze::cli
