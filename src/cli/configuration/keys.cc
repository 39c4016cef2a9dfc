#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/options/commands.h"
#include "configuration/import.h"
#include "configuration/key_document.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string system;
};

void add_options(OptionTable& table, Options& o) {
  std::vector<std::string> ids;
  for (const auto* system : configuration::foreign_systems()) ids.push_back(system->id);
  table.add("system", &o.system, "Only the keys of this system", {.choices = ids});
}

void print_keys(const Options& o) {
  const char* between = "";
  for (const auto* system : configuration::foreign_systems()) {
    if (!o.system.empty() && o.system != system->id) continue;
    fmt::print("{}{}", between, configuration::key_document(*system));
    between = "\n";
  }
}

}  // namespace

void add_config_keys(Subcommand config) {
  config.add_command("keys",
                     {"What becomes of every key of other systems' configurations, as Markdown",
                      "cloze config keys --system habana"},
                     add_options, print_keys);
}

}  // namespace cloze::cli
