// Configurations of other systems, as they are, to ours.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "configuration/conversion.h"
#include "configuration/foreign_file.h"
#include "configuration/foreign_system.h"

namespace cloze::configuration {

// The system that knows most of the file's keys. UserError when none knows any.
const ForeignSystem& recognised_system(const ForeignFile& file);
// By ForeignSystem::id.
const ForeignSystem& system_named(const std::string& id);

// The whole conversion: every key of the file has its sentence.
Conversion converted(const ForeignSystem& system, const ForeignFile& file);

// What --config takes by converting it: several files with commas between them, YAML, a file with a
// command line, and JSON with the mark of a system. Nothing for other JSON and for the form of the
// TensorFlow 1 programs, whose keys are options here.
std::optional<ForeignFile> read_foreign_form(std::string_view comma_list);
// One sentence: whose the files are, what they leave to that system, what has no effect here.
std::string summary(const ForeignSystem& system, const Conversion& conversion);

}  // namespace cloze::configuration
