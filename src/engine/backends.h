// The one place that names concrete backends.
#pragma once

#include <string_view>

#include "backend/kernel.h"

namespace cloze::engine {

// "cpu", "reference" or "null". UserError for any other name.
const backend::Backend& backend_named(std::string_view name);

}  // namespace cloze::engine
