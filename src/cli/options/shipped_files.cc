#include "cli/options/shipped_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/options/arguments.h"
#include "platform/child.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "configs";

// "configs/devices/x.json" is devices/x.json there.
fs::path name_there(const fs::path& path) {
  fs::path name;
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (part == path.begin() && *part == kFolder) continue;
    name /= *part;
  }
  return name;
}

std::optional<fs::path> find_in(const fs::path& folder, const fs::path& path) {
  if (path.empty() || path.is_absolute()) return std::nullopt;
  const fs::path file = folder / name_there(path);
  for (const fs::path& candidate : {file, fs::path(file).concat(".json")}) {
    if (fs::is_regular_file(candidate)) return candidate;
  }
  return std::nullopt;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  return names;
}

}  // namespace

std::optional<fs::path> shipped_folder() {
  for (fs::path above = platform::path_of_this_program(); above.has_relative_path();) {
    above = above.parent_path();
    for (const fs::path& folder : {above / "share/cloze/configs", above / kFolder}) {
      if (fs::exists(folder / "benchmarks.yml")) return folder;
    }
  }
  return std::nullopt;
}

fs::path find_shipped(const fs::path& path) {
  if (fs::exists(path) && !fs::is_directory(path)) return path;
  if (fs::exists(path / "config.json")) return path / "config.json";
  const std::optional<fs::path> folder = shipped_folder();
  if (const auto found = folder ? find_in(*folder, path) : std::nullopt) return *found;
  if (fs::is_directory(path)) {
    throw_user_error("{} is a folder without config.json; name a file", path.string());
  }
  if (!folder || path.is_absolute()) throw_user_error("{} does not exist", path.string());
  throw_user_error("{} does not exist, nor does {} have it{}", path.string(), folder->string(),
                   nearest_hint(path.stem().string(), names_in(*folder)));
}

std::string find_each_shipped(const std::string& comma_list) {
  if (fs::exists(comma_list)) return find_shipped(comma_list).string();
  std::vector<std::string> found;
  for (std::string_view rest = comma_list; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    found.push_back(find_shipped(one).string());
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return fmt::format("{}", fmt::join(found, ","));
}

}  // namespace cloze::cli
