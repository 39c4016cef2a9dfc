#include "tasks/glue/glue_files.h"

#include <string>
#include <vector>

#include "base/error.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folder_names(const GlueTask& task) {
  if (task.name == "AX") return {"diagnostic", "AX"};
  if (task.name == "MNLI-mm") return {"MNLI"};
  return {std::string(task.name)};
}

std::vector<std::string> file_names(const GlueTask& task, GlueSplit split) {
  if (task.name == "AX" && split != GlueSplit::kTest) return {};
  if (task.name == "AX") return {"diagnostic.tsv", "test.tsv"};
  const std::string split_name(name_of(split));
  if (split == GlueSplit::kTrain) return {split_name + ".tsv"};
  if (task.name == "MNLI") return {split_name + "_matched.tsv"};
  if (task.name == "MNLI-mm") return {split_name + "_mismatched.tsv"};
  return {split_name + ".tsv"};
}

std::vector<fs::path> candidates(const fs::path& folder, const GlueTask& task, GlueSplit split) {
  std::vector<fs::path> folders;
  for (const std::string& name : folder_names(task)) folders.push_back(folder / name);
  folders.push_back(folder);
  std::vector<fs::path> paths;
  for (const fs::path& place : folders) {
    for (const std::string& name : file_names(task, split)) paths.push_back(place / name);
  }
  return paths;
}

}  // namespace

std::string_view name_of(GlueSplit split) {
  constexpr std::string_view kNames[] = {"train", "dev", "test"};
  return kNames[static_cast<size_t>(split)];
}

std::optional<fs::path> find_glue_file(const fs::path& folder, const GlueTask& task,
                                       GlueSplit split) {
  for (const fs::path& path : candidates(folder, task, split)) {
    if (fs::is_regular_file(path)) return path;
  }
  return std::nullopt;
}

fs::path glue_file(const fs::path& folder, const GlueTask& task, GlueSplit split) {
  if (const auto path = find_glue_file(folder, task, split)) return *path;
  if (task.name == "AX" && split != GlueSplit::kTest) {
    throw_user_error("AX has no {} file: train on MNLI, and predict AX with that model",
                     name_of(split));
  }
  std::vector<std::string> tried;
  for (const fs::path& path : candidates(folder, task, split)) tried.push_back(path.string());
  throw_user_error(
      "no {} file of {}: there is none of {}; name the task's folder or the one above it",
      name_of(split), task.name, fmt::join(tried, ", "));
}

}  // namespace cloze::tasks
