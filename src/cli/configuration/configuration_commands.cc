#include "cli/configuration/configuration_commands.h"

#include <fmt/format.h>

#include "cli/console/say.h"
#include "formats/json.h"

namespace cloze::cli {

ConfigurationCommands::ConfigurationCommands(Subcommand config)
    : print_(config.add_group("print", {"Every value, and where it came from",
                                        "cloze config print pretrain --config bert_tiny"})),
      schema_(config.add_group("schema", {"JSON schema of configuration files, for editors",
                                          "cloze config schema pretrain > pretrain.schema.json"})) {
}

ConfigurationCommands ConfigurationCommands::group(const std::string& name,
                                                   const std::string& example) {
  const auto text = [&](const std::string& command) {
    return CommandText{"Those of cloze " + name,
                       "cloze config " + command + " " + name + " " + example};
  };
  return {print_.add_group(name, text("print")), schema_.add_group(name, text("schema")),
          name + " "};
}

void ConfigurationCommands::add_nothing(OptionTable&, Nothing&) {}

void ConfigurationCommands::print_values(const OptionTable& table) {
  const formats::Json values = table.values();
  for (const auto& [name, value] : values.items()) {
    fmt::print("{} {}  ({})\n", name, formats::json_line(value), table.origin(name));
  }
  for (const std::string& note : table.notes()) say("note: {}\n", note);
}

void ConfigurationCommands::print_schema(const OptionTable& table) {
  fmt::print("{}", formats::json_text(table.schema()));
}

}  // namespace cloze::cli
