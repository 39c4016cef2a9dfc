#include "configuration/import.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options/commands.h"
#include "cli/run/batch_plan.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

using configuration::Conversion;
using configuration::ForeignFile;
using configuration::ForeignSystem;

struct ImportOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path output_file;
  std::string system;
  std::optional<int64_t> phase;
  bool without_planned = false;
};

std::vector<std::string> system_ids() {
  std::vector<std::string> ids;
  for (const ForeignSystem* system : configuration::foreign_systems()) ids.push_back(system->id);
  return ids;
}

void add_options(OptionTable& table, ImportOptions& o) {
  table.add("files", &o.files,
            "A configuration of another system: JSON, YAML, or a file with its command line; "
            "several, such as an IPUConfig and its arguments, separated by commas",
            {.is_required = true, .is_positional = true});
  table.add("output_file", &o.output_file, "Our configuration, for --config",
            {.is_required = true});
  table.add("system", &o.system, "System that it comes from (recognised by its keys)",
            {.choices = system_ids()});
  table.add("phase", &o.phase, "Which of the two pre-training phases of a Habana file",
            {.minimum = 1, .maximum = 2});
  table.add("without_planned", &o.without_planned,
            "Leave out options that are not here yet, instead of refusing the file");
}

std::string shortened(const formats::Json& value) {
  constexpr size_t kShown = 60;
  std::string text = formats::json_line(value);
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

std::string command_of(const std::string& task) {
  if (task == "SQuAD") return "squad";
  return task == "GLUE" ? "glue" : "pretrain";
}

void print_report(const ForeignSystem& system, const ForeignFile& file,
                  const Conversion& conversion) {
  fmt::print("{}, for cloze {}\n", system.name, command_of(conversion.task()));
  for (const auto& [key, sentence] : conversion.sentences()) {
    fmt::print("  {} {}: {}\n", key, shortened(file.values.at(key)), sentence);
  }
  for (const std::string& option : conversion.defaults()) {
    const std::string why = conversion.reason_of(option);
    fmt::print("  default there: {} {}{}{}\n", option,
               formats::json_line(conversion.options().at(option)), why.empty() ? "" : ": ", why);
  }
  for (const std::string& remark : conversion.remarks()) fmt::print("note: {}\n", remark);
  fmt::print("a step has {} sequences\n", sequences_of_a_step(conversion.options()));
}

// Refuses a file that --config takes without a conversion.
void refuse_own_form(const ImportOptions& o, const ForeignSystem& system, const ForeignFile& file) {
  if (!o.system.empty() || !configuration::is_own_form(system, file)) return;
  throw_user_error("{} is already in cloze's form; give it to --config, or name its --system",
                   o.files.front().string());
}

void import(const ImportOptions& o) {
  platform::require_other_files({.inputs = o.files, .outputs = {o.output_file}});
  ForeignFile file = configuration::read_foreign_files(o.files);
  if (o.phase) file.values["phase"] = *o.phase;
  const ForeignSystem& system = o.system.empty() ? configuration::recognised_system(file)
                                                 : configuration::system_named(o.system);
  refuse_own_form(o, system, file);
  const Conversion conversion = configuration::converted(system, file);
  print_report(system, file, conversion);
  conversion.require_free_way(o.without_planned);
  platform::write_file_atomically(o.output_file, formats::json_text(conversion.options()));
  fmt::print("wrote {}\n", o.output_file.string());
}

}  // namespace

void add_config_import(Subcommand config) {
  config.add_command("import",
                     {"Convert a configuration of another system to ours",
                      "cloze config import squad.yaml --output-file squad.json"},
                     add_options, import);
}

}  // namespace cloze::cli
