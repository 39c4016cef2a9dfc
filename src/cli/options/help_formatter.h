// How --help of a command looks: what it does, an example of it, then its options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cloze::cli {

// The example is the command's footer (CLI::App::footer), which is printed nowhere else.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* command) const override {
    const std::string example = command->get_footer();
    return command->get_description() + (example.empty() ? "" : "\nExample: " + example) + "\n";
  }
  std::string make_footer(const CLI::App*) const override { return ""; }
};

}  // namespace cloze::cli
