// A configuration as another system keeps it, read to a flat list of keys: JSON (also nested),
// YAML, or the command line that starts a program, as a file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace cloze::configuration {

struct ForeignFile {
  std::string path;                             // of several files all, with commas; or ""
  std::string program;                          // of a command line: "run_pretraining.py"; or ""
  std::map<std::string, formats::Json> values;  // nested keys joined by dots
  // Those of the values that Optimum's ipu_config_overrides and config_overrides assign: they
  // override the other files' too.
  std::map<std::string, formats::Json> assigned;
};

// Of several files a later one overrides an earlier one. UserError that names file and place.
ForeignFile read_foreign_files(const std::vector<std::filesystem::path>& paths);

// An object's values with the keys of nested objects joined by dots, unless a system has the object
// as a value. The two special forms: Habana's YAML presets (the keys of `parameters`, and each word
// of its `store_true` as a switch) and Optimum's IPUConfig by itself (its keys beneath ipu_config).
ForeignFile flat_values(const formats::Json& document);

// The words that follow the program's name: `mpirun ... python3 demo_bert.py pretraining -b 64 8
// --dist` is batch_size [64, 8] and dist true, and the launcher's command is pretraining. Quotes,
// continued lines and comments as in a shell; what follows a pipe, a redirection or the end of the
// command is left out.
ForeignFile command_line_values(std::string_view text);

}  // namespace cloze::configuration
