// A folder for output, made before there is any: where work ends with an error before the first
// file, what was made for it goes again.
#pragma once

#include <filesystem>
#include <vector>

namespace cloze::platform {

class MadeFolder {
 public:
  // Makes the folder and its parents. EnvironmentError as make_writable_directory().
  explicit MadeFolder(const std::filesystem::path& path);
  // Removes those of them that were not there before and are empty.
  ~MadeFolder();
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // innermost first
};

}  // namespace cloze::platform
