#include "cli/run/export_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/report/step_profile.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct ExportFile {
  const char* option;
  fs::path path;
};

std::vector<ExportFile> files_of(const train::MetricsExports& exports) {
  std::vector<ExportFile> files = {{"dllogger_file", exports.dllogger_file},
                                   {"mllog_file", exports.mllog_file},
                                   {"prometheus_file", exports.prometheus_file}};
  std::erase_if(files, [](const ExportFile& file) { return file.path.empty(); });
  return files;
}

fs::path place_of(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

// Whether the run itself has that name: for its metrics, or for the folder of TensorBoard, of
// Weights & Biases or of its token store. A file of the token store has such a name, too.
bool is_used_by_run(const fs::path& place, const fs::path& save_path) {
  constexpr std::array<std::string_view, 4> kUsed = {"metrics.jsonl", "event", "wandb", "tokens"};
  const bool is_name = std::ranges::any_of(
      kUsed, [&](std::string_view name) { return place == place_of(save_path / name); });
  return is_name || place.parent_path() == place_of(save_path / "tokens");
}

bool leaves_folder(const fs::path& path) {
  return path.is_absolute() || *path.lexically_normal().begin() == "..";
}

[[noreturn]] void refuse_one_for_all(const ExportFile& file, int64_t num_seeds,
                                     const char* advice) {
  throw_user_error("{} {} would keep only the last of num_seeds {}; {}", file.option,
                   file.path.string(), num_seeds, advice);
}

}  // namespace

void validate_exports(const RunOptions& options) {
  const fs::path& save_path = options.training.save_path;
  const auto refuse_used = [&](const ExportFile& file, const fs::path& place) {
    if (!is_used_by_run(place, save_path)) return;
    throw_user_error("{} {} is where the run writes something else; choose another name",
                     file.option, file.path.string());
  };
  if (const fs::path& report = options.profile_report; !report.empty()) {
    refuse_used({"profile_report", report}, place_of(report));
  }
  std::map<fs::path, const char*> taken;
  for (const ExportFile& file : files_of(options.exports)) {
    const fs::path place = place_of(save_path / file.path);
    refuse_used(file, place);
    const auto [other, is_new] = taken.emplace(place, file.option);
    if (is_new) continue;
    throw_user_error("{} and {} are both {}; give each a name of its own", other->second,
                     file.option, file.path.string());
  }
}

void validate_exports_of_seeds(const RunOptions& options, int64_t num_seeds) {
  if (num_seeds == 1) return;
  for (const ExportFile& file : files_of(options.exports)) {
    if (!leaves_folder(file.path)) continue;
    refuse_one_for_all(file, num_seeds, "give a path below save_path, where each has a folder");
  }
  if (options.profile_report.empty()) return;
  refuse_one_for_all({"profile_report", options.profile_report}, num_seeds,
                     "profile a run of one seed");
}

void require_other_inputs(const RunOptions& options, std::vector<fs::path> inputs) {
  platform::ReadAndWritten files{.inputs = std::move(inputs)};
  for (const ExportFile& file : files_of(options.exports)) {
    files.outputs.push_back(place_of(options.training.save_path / file.path));
  }
  if (const fs::path& report = options.profile_report; !report.empty()) {
    files.outputs.insert(files.outputs.end(), {report, StepProfile::trace_path(report)});
  }
  platform::require_other_files(files);
}

}  // namespace cloze::cli
