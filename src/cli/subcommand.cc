#include "cli/subcommand.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace cloze::cli {

Subcommand Subcommand::add_group(const std::string& name, const std::string& help) {
  CLI::App& group = add(name, help);
  group.require_subcommand();
  if (!words_) return {group, std::nullopt};
  if (!is_named(name)) return {group, std::vector<std::string>()};
  return {group, std::vector(words_->begin() + 1, words_->end())};
}

CLI::App& Subcommand::add(const std::string& name, const std::string& help) {
  return *app_->add_subcommand(name, help);
}

bool Subcommand::is_named(const std::string& name) const {
  return !words_ || (!words_->empty() && words_->front() == name);
}

void Subcommand::set_action(CLI::App& app, OptionTable& table, std::function<void()> action) {
  table.add_flags(app);
  app.callback(std::move(action));
}

}  // namespace cloze::cli
