// Folders: made, locked, durable.
// Errors: UserError or EnvironmentError that names the path and what the system said.
#pragma once

#include <filesystem>
#include <vector>

#include "platform/descriptor.h"

namespace cloze::platform {

// The folder that the path's last name lies in.
std::filesystem::path folder_of(const std::filesystem::path& path);

// Held while files of a folder are written: only one process holds it at a time, and a process that
// is gone holds none. EnvironmentError when another process has it.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  Descriptor folder_;
};

// Creates the folder and its parents. UserError when the path is wrong or not the user's to write
// to; EnvironmentError when the system has another reason.
void make_writable_directory(const std::filesystem::path& path);

// A folder for output, made before there is any: where work ends with an error before the first
// file, what was made for it is removed again.
class MadeFolder {
 public:
  // Makes the folder and its parents. Errors as of make_writable_directory().
  explicit MadeFolder(const std::filesystem::path& path);
  // Removes those of them that were not there before and are empty.
  ~MadeFolder();
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  // innermost first
};

// Makes renames and new names in the folder durable.
void sync_directory(const std::filesystem::path& path);

}  // namespace cloze::platform
