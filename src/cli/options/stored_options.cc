#include "cli/options/stored_options.h"

#include <fmt/format.h>

#include "cli/options/option_value.h"

namespace cloze::cli {
namespace {

void take_value(const OptionTable& table, OptionEntry& entry, const formats::Json& value,
                const StoredOptions& run) {
  if (value.is_null()) clear_option(entry.option);
  set_option(entry.option, value, run.path);
  const std::string origin = run.origin_of(entry.option.name);
  if (origin == kDefaultOrigin) return;
  entry.origin = table.is_system(origin) ? origin : run.path;
}

}  // namespace

std::vector<std::string> take_run(OptionTable& table, const StoredOptions& run) {
  table.set_run(run.path);
  std::vector<std::string> changes;
  for (const auto& [name, value] : run.values.items()) {
    OptionEntry* entry = table.find(name);
    if (entry == nullptr) {
      table.add_note(fmt::format("{}: {} is not known here and has no effect", run.path, name));
    } else if (entry->option.rules.is_of_command) {
      continue;
    } else if (entry->origin == kDefaultOrigin) {
      take_value(table, *entry, value, run);
    } else if (const formats::Json here = option_value(entry->option); here != value) {
      changes.push_back(fmt::format("{} {} (was {})", *table.spelled(name),
                                    formats::json_line(here), formats::json_line(value)));
    }
  }
  return changes;
}

}  // namespace cloze::cli
