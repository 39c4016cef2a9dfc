// Configurations of other systems, as they are, to ours.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace cloze::configuration
