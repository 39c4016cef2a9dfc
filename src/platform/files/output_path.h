// Paths of files to be written.
#pragma once

#include <filesystem>

namespace cloze::platform {

// UserError when the path is empty, or names what a file cannot be renamed to or must not replace:
// a folder, a device.
void check_output_path(const std::filesystem::path& path);

}  // namespace cloze::platform
