// Options that a run keeps in each checkpoint, for the run that goes on from it.
#pragma once

#include <string>
#include <vector>

#include "cli/options/option_table.h"
#include "formats/json.h"

namespace cloze::cli {

// A configuration file that gives the options again, and beside it where each value came from.
inline constexpr const char* kStoredOptionsName = "training_config.json";
inline constexpr const char* kStoredOriginsName = "training_config_origins.json";

// The options that a run had, as its checkpoint keeps them.
struct StoredOptions {
  std::string path;       // of the file with the values
  formats::Json values;   // as OptionTable::values()
  formats::Json origins;  // as OptionTable::origins(); may lack some
  std::string origin_of(const std::string& name) const { return origins.value(name, ""); }
};

// After OptionTable::resolve(), for a run that goes on: options that nothing gave take the run's
// value, or stay at their default where that was its origin. Returns those that were given another
// value: "precision \"bf16\" (was \"f32\")". Stored options that the table does not have leave a
// note.
std::vector<std::string> take_run(OptionTable& table, const StoredOptions& run);

}  // namespace cloze::cli
