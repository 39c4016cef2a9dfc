#include "cli/options/subcommand.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "cli/console/say.h"

namespace cloze::cli {

void check_use(const OptionTable& table) {
  for (const std::string& note : table.check_use()) say("note: {}\n", note);
}

Subcommand Subcommand::add_group(const std::string& name, const CommandText& text) {
  CLI::App& group = add(name, text);
  group.require_subcommand();
  if (!words_) return {group, std::nullopt};
  if (!is_named(name)) return {group, std::vector<std::string>()};
  return {group, std::vector(words_->begin() + 1, words_->end())};
}

CLI::App& Subcommand::add(const std::string& name, const CommandText& text) {
  return *app_->add_subcommand(name, text.help)->footer(text.example);
}

bool Subcommand::is_named(const std::string& name) const {
  return !words_ || (!words_->empty() && words_->front() == name);
}

void Subcommand::set_action(CLI::App& app, OptionTable& table, std::function<void()> action) {
  table.add_flags(app);
  app.callback(std::move(action));
}

void resolve_words(OptionTable& table, std::vector<std::string> words) {
  CLI::App command;
  table.add_flags(command);
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    command.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw_user_error("{}", error.what());
  }
  table.resolve();
}

}  // namespace cloze::cli
