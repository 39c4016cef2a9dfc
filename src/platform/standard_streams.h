// Where this process writes what it says.
#pragma once

#include <cstdio>
#include <filesystem>

namespace cloze::platform {

// Standard output and standard error go to the end of the file from now on. Returns standard error
// as it was before the first call. EnvironmentError when the file cannot be opened.
std::FILE* redirect_output(const std::filesystem::path& path);

}  // namespace cloze::platform
