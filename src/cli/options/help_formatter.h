// How --help of a command looks: what it does, an example of it, then its options.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cloze::cli {

// The example is the command's footer (CLI::App::footer), which is printed nowhere else.
class HelpFormatter : public CLI::Formatter {
 public:
  // `usage` stands after the command's name, if it is not empty, instead of "[OPTIONS]". The rare
  // options are those that --help-all alone shows.
  explicit HelpFormatter(std::string usage = "", std::set<const CLI::Option*> rare = {})
      : usage_(std::move(usage)), rare_(std::move(rare)) {}

  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    if (rare_.empty() || mode != CLI::AppFormatMode::Normal) {
      return Formatter::make_help(command, name, mode);
    }
    std::string text = make_description(command) + make_usage(command, name);
    for (const std::string& group : command->get_groups()) text += make_common(command, group);
    return fmt::format("{}\n{} more options: {} --help-all\n", text, rare_.size(), name);
  }
  std::string make_usage(const CLI::App* command, std::string name) const override {
    if (usage_.empty()) return Formatter::make_usage(command, name);
    return fmt::format("Usage: {} {}\n", name, usage_);
  }
  std::string make_description(const CLI::App* command) const override {
    const std::string example = command->get_footer();
    return command->get_description() + (example.empty() ? "" : "\nExample: " + example) + "\n";
  }
  std::string make_footer(const CLI::App*) const override { return ""; }

 private:
  std::string make_common(const CLI::App* command, const std::string& group) const {
    const std::vector<const CLI::Option*> shown =
        command->get_options([&](const CLI::Option* option) {
          return option->get_group() == group && !rare_.contains(option);
        });
    return group.empty() || shown.empty() ? "" : make_group(group, false, shown);
  }

  std::string usage_;
  std::set<const CLI::Option*> rare_;
};

}  // namespace cloze::cli
