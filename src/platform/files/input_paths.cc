#include "platform/files/input_paths.h"

#include <glob.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "platform/files/partial_file.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

bool is_temporary(const fs::path& path) {
  return is_temporary_of_atomic_file(path) || path.extension() == kPartialSuffix;
}

// All files below a folder. A file that links also lead to, even in a cycle, is read once.
class FolderWalk {
 public:
  void enter(const fs::path& folder) {
    try {
      walk(folder);
    } catch (const fs::filesystem_error& error) {
      throw_user_error("cannot read folder {}: {}; check what is in it", error.path1().string(),
                       error.code().message());
    }
  }
  std::vector<fs::path> sorted_files() {
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  void walk(const fs::path& folder) {
    if (!entered_.insert(fs::canonical(folder)).second) return;
    std::set<fs::directory_entry> entries;  // in an order that a file system does not change
    for (const auto& entry : fs::directory_iterator(folder)) entries.insert(entry);
    for (const auto& entry : entries) {
      if (entry.is_directory()) {
        walk(entry.path());
      } else if (entry.is_regular_file() && !is_temporary(entry.path())) {
        files_.push_back(entry.path());
      }
    }
  }

  std::set<fs::path> entered_;
  std::vector<fs::path> files_;
};

std::vector<fs::path> files_below(const fs::path& folder) {
  FolderWalk walk;
  walk.enter(folder);
  return walk.sorted_files();
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;  // a path that cannot be is not there
  return fs::is_directory(path, unknown);
}

// Finds what has the name of a pattern, or matches it; folders are not entered.
std::vector<fs::path> paths_matching(const std::string& pattern) {
  std::error_code unknown;
  if (is_standard_input(pattern) || fs::exists(pattern, unknown)) return {pattern};
  glob_t matches{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<fs::path> paths;
  for (size_t i = 0; status == 0 && i < matches.gl_pathc; ++i) {
    const fs::path path = matches.gl_pathv[i];
    if (!is_temporary(path)) paths.push_back(path);
  }
  ::globfree(&matches);
  return paths;
}

std::vector<fs::path> files_matching(const std::string& pattern) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths_matching(pattern)) {
    const std::vector<fs::path> here =
        is_folder(path) ? files_below(path) : std::vector<fs::path>{path};
    files.insert(files.end(), here.begin(), here.end());
  }
  if (!files.empty()) return files;
  if (is_folder(pattern)) throw_user_error("folder {} holds no files", pattern);
  throw_user_error("no file matches {}; check the path", pattern);
}

// The longest beginning of the list, up to a comma, that is the path of something; else what is
// before the first comma.
size_t length_of_first(std::string_view comma_list) {
  constexpr size_t kLongestPath = 4096;
  std::error_code unknown;
  size_t comma = std::min(comma_list.size(), kLongestPath);
  while (comma < comma_list.size() && comma_list[comma] != ',') --comma;
  for (; comma != std::string_view::npos && comma > 0; comma = comma_list.rfind(',', comma - 1)) {
    if (fs::exists(comma_list.substr(0, comma), unknown)) return comma;
  }
  return std::min(comma_list.find(','), comma_list.size());
}

std::vector<std::string> patterns_of(std::string_view comma_list) {
  std::vector<std::string> patterns;
  while (!comma_list.empty()) {
    const size_t length = length_of_first(comma_list);
    if (length > 0) patterns.emplace_back(comma_list.substr(0, length));
    comma_list.remove_prefix(std::min(length + 1, comma_list.size()));
  }
  return patterns;
}

// An absent file is not the same as any other.
bool is_same(const fs::path& left, const fs::path& right) {
  std::error_code not_there;
  return fs::equivalent(left, right, not_there);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  if (!is_folder(folder)) return false;
  std::error_code unknown;
  fs::path parent = fs::weakly_canonical(fs::absolute(folder_of(file)), unknown);
  for (; parent.has_relative_path(); parent = parent.parent_path()) {
    if (is_same(parent, folder)) return true;
  }
  return false;
}

void require_other_file(const fs::path& output, const fs::path& input) {
  if (is_standard_input(input)) return;
  if (is_same(output, input)) {
    throw_user_error("writing {} would overwrite {}, which is read; name another file",
                     output.string(), input.string());
  }
  if (lies_in(output, input)) {
    throw_user_error("{} is in {}, which is read; name a file outside it", output.string(),
                     input.string());
  }
}

}  // namespace

std::vector<fs::path> expand_paths(std::string_view comma_list) {
  std::vector<fs::path> files;
  for (const std::string& pattern : patterns_of(comma_list)) {
    const std::vector<fs::path> matches = files_matching(pattern);
    files.insert(files.end(), matches.begin(), matches.end());
  }
  return files;
}

std::vector<fs::path> expand_paths_with_folders(std::string_view comma_list) {
  std::vector<fs::path> paths = expand_paths(comma_list);
  for (const std::string& pattern : patterns_of(comma_list)) {
    std::ranges::copy_if(paths_matching(pattern), std::back_inserter(paths), is_folder);
  }
  return paths;
}

void require_other_files(const ReadAndWritten& files) {
  for (const fs::path& output : files.outputs) {
    if (output.empty()) continue;
    for (const fs::path& input : files.inputs) require_other_file(output, input);
  }
}

}  // namespace cloze::platform
