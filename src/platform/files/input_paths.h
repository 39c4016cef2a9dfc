// Finds what a user names for a command to read, and checks that none of the outputs is among it.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace cloze::platform {

// Comma list of paths and glob patterns → existing files, sorted within each pattern. A path that
// exists is taken whole, commas and all; in a pattern, ? stands for a comma.
// A folder, named or matched, stands for every file below it, also through links; each folder is
// read once. "-", standard input, stays as it is. Temporary and partial files of ours, which a
// killed process may have left, belong to no pattern and no folder. A pattern that is itself the
// name of an existing file or folder means just that. UserError when a pattern matches nothing, and
// for a folder that cannot be read.
std::vector<std::filesystem::path> expand_paths(std::string_view comma_list);
// The same for require_other_files(): with the folders that stand for some of the files.
std::vector<std::filesystem::path> expand_paths_with_folders(std::string_view comma_list);

struct ReadAndWritten {
  std::vector<std::filesystem::path> inputs;   // files, folders; "-" and "" are none
  std::vector<std::filesystem::path> outputs;  // files; "" is none
};
// Before anything is read: UserError when an output is an input, under whatever name, or lies in a
// folder that is one, such as a token store or a model.
void require_other_files(const ReadAndWritten& files);

}  // namespace cloze::platform
