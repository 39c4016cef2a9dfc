// The one place that names concrete devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/device.h"

namespace cloze::engine {

// UserError for a name that is not among device_names().
backend::Device& device_named(std::string_view name);

// "cpu" first; then those for tests and for planning: "reference", "walled", "late", "null".
std::vector<std::string> device_names();

}  // namespace cloze::engine
