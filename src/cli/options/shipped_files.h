// The configurations that come with the program, in the nearest folder above it that has them: as
// share/cloze/configs where it is installed, as configs of the source tree where it is built.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace cloze::cli {

// Nothing where the program stands alone.
std::optional<std::filesystem::path> shipped_folder();

// The file that a command is to read: the path itself where a file is there, else the one that
// comes with the program and is called so, with or without configs/ and .json: "bert_tiny",
// "configs/devices/intel_xeon_8480.json". A folder with a config.json, a model's, stands for that
// file. UserError, which names the nearest, when there is none.
std::filesystem::path find_shipped(const std::filesystem::path& path);
// The same of each of several, separated by commas.
std::string find_each_shipped(const std::string& comma_list);

}  // namespace cloze::cli
