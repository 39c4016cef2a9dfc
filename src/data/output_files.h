// The files that --output-file names.
#pragma once

#include <filesystem>
#include <span>

namespace cloze::data {

// UserError unless there is one at least, and each is named once.
void check_output_files(std::span<const std::filesystem::path> files);

}  // namespace cloze::data
