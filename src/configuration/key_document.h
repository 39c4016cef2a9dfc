// Writes what becomes of every key of a system's configurations, in Markdown, for
// docs/fidelity/options.md.
#pragma once

#include <string>

#include "configuration/foreign_system.h"

namespace cloze::configuration {

// Has for each group of keys its heading and a table: keys of one fate and reason share a row.
// Below the first table stand the keys that tell a file of the system, and the values that options
// have where a file leaves them out.
std::string key_document(const ForeignSystem& system);

}  // namespace cloze::configuration
