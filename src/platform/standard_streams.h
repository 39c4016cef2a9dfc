// Standard output and error of this process, and the terminal at the latter.
#pragma once

#include <cstdio>
#include <filesystem>

namespace cloze::platform {

// Standard output and standard error go to the end of the file from now on. Returns standard error
// as it was before the first call. EnvironmentError when the file cannot be opened.
std::FILE* redirect_output(const std::filesystem::path& path);

// True when standard error is a terminal that can redraw a line (TERM is not "dumb").
bool is_interactive_terminal();
int terminal_columns();  // 80 when unknown

}  // namespace cloze::platform
