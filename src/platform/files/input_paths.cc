#include "platform/files/input_paths.h"

#include <glob.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/partial_file.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

bool is_temporary(const fs::path& path) {
  return is_temporary_of_atomic_file(path) || path.extension() == kPartialSuffix;
}

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !is_temporary(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw_user_error("folder {} holds no files", folder);
  return files;
}

std::vector<fs::path> files_matching(const std::string& pattern) {
  std::error_code unknown;
  if (is_standard_input(pattern) || fs::exists(pattern, unknown)) return {pattern};
  glob_t matches{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<fs::path> files;
  for (size_t i = 0; status == 0 && i < matches.gl_pathc; ++i) {
    const fs::path file = matches.gl_pathv[i];
    if (!is_temporary(file)) files.push_back(file);
  }
  ::globfree(&matches);
  if (files.empty()) throw_user_error("no file matches {}; check the path", pattern);
  return files;
}

// What is not there is no other's.
bool is_same(const fs::path& left, const fs::path& right) {
  std::error_code not_there;
  return fs::equivalent(left, right, not_there);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) return false;
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
    throw_user_error("{} lies in {}, which is read; name a file outside of it", output.string(),
                     input.string());
  }
}

}  // namespace

std::vector<fs::path> expand_paths(std::string_view comma_list) {
  std::vector<fs::path> files;
  while (!comma_list.empty()) {
    const size_t comma = comma_list.find(',');
    const std::string pattern(comma_list.substr(0, comma));
    comma_list.remove_prefix(comma == std::string_view::npos ? comma_list.size() : comma + 1);
    if (pattern.empty()) continue;
    std::error_code unknown;  // a path that cannot be is not there
    const std::vector<fs::path> matches =
        fs::is_directory(pattern, unknown) ? files_below(pattern) : files_matching(pattern);
    files.insert(files.end(), matches.begin(), matches.end());
  }
  return files;
}

void require_other_files(const ReadAndWritten& files) {
  for (const fs::path& output : files.outputs) {
    if (output.empty()) continue;
    for (const fs::path& input : files.inputs) require_other_file(output, input);
  }
}

}  // namespace cloze::platform
