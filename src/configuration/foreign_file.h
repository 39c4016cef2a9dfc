// A configuration as another system keeps it, read to a flat list of keys: JSON (also nested),
// YAML, or the command line that starts a program, as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "formats/json.h"

namespace cloze::configuration {

struct ForeignFile {
  std::string path;                             // of several files all, with commas; or ""
  std::string program;                          // of a command line: "run_pretraining.py"; or ""
  std::map<std::string, formats::Json> values;  // nested keys joined by dots
  // The files that a command line names and that were read as well: by key, such as config. What
  // the command line gives overrides their values.
  std::map<std::string, std::string> named;
  int64_t launched_replicas = 0;  // that a command line starts; 0: it does not say
  // The values that Optimum's ipu_config_overrides and config_overrides assign: they override the
  // other files' too.
  std::map<std::string, formats::Json> assigned;
};

// Reads the files; a later one overrides an earlier one. A file that a command line names by config
// is read as well: from the current folder, or from that of the command line's file. So are the
// sizes that config_file names. UserError that names file and place, and for a model that is not a
// BERT.
ForeignFile read_foreign_files(const std::vector<std::filesystem::path>& paths);

// An object's values with the keys of nested objects joined by dots, unless a system has the object
// as a value. The two special forms: Habana's YAML presets (the keys of `parameters`, and each word
// of its `store_true` as a switch) and Optimum's IPUConfig by itself (its keys beneath ipu_config).
ForeignFile flat_values(const formats::Json& document);

}  // namespace cloze::configuration
