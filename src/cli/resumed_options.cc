#include "cli/resumed_options.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "formats/json.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

std::optional<int64_t> seed_of(const std::string& name) {
  constexpr std::string_view kPrefix = "seed-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int64_t seed = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, seed);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(seed) : std::nullopt;
}

// That of the lowest seed that has begun; the folder itself when it has no such runs.
fs::path first_run_in(const fs::path& folder) {
  if (!fs::is_directory(folder)) return folder;
  std::optional<int64_t> first;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::optional<int64_t> seed = seed_of(entry.path().filename().string());
    if (!seed || train::checkpoint_steps(entry.path()).empty()) continue;
    if (!first || *seed < *first) first = seed;
  }
  return first ? folder / fmt::format("seed-{}", *first) : folder;
}

nlohmann::json read_if_there(const fs::path& path) {
  return fs::exists(path) ? formats::read_json_file(path) : nlohmann::json::object();
}

}  // namespace

void take_options_of_run(OptionTable& table, RunOptions& options) {
  train::TrainingOptions& training = options.training;
  if (training.restore_dir.empty()) return;
  const fs::path folder = training.restore_dir;
  const fs::path run = train::checkpoint_steps(folder).empty() ? first_run_in(folder) : folder;
  training.restore_from = train::find_checkpoint(run);
  const fs::path& checkpoint = training.restore_from->path;
  if (table.origin("save_path") == kDefaultOrigin)
    training.save_path = train::run_folder_of(folder);
  const fs::path file = checkpoint / kStoredOptionsName;
  if (!fs::exists(file)) {
    fmt::print(stderr, "note: {} has no {}; options not given have defaults\n", checkpoint.string(),
               kStoredOptionsName);
    return;
  }
  nlohmann::json values = formats::read_json_file(file);
  if (run == folder) values.erase("num_seeds");  // this is the run of one seed
  const std::vector<std::string> changes =
      table.take_run({file.string(), values, read_if_there(checkpoint / kStoredOriginsName)});
  // A single run needs its start no more; of several, some may not have begun.
  if (run != folder && training.init_checkpoint.empty()) {
    training.init_checkpoint = values.value("init_checkpoint", "");
  }
  if (changes.empty()) return;
  fmt::print(stderr, "note: from here on {}\n", fmt::join(changes, ", "));
}

}  // namespace cloze::cli
