#include "cli/run/resumed_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/whole_number.h"
#include "cli/console/say.h"
#include "cli/options/stored_options.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNumSeeds = "num_seeds";
constexpr std::string_view kSeedPrefix = "seed-";

std::optional<int64_t> seed_of(const std::string& name) {
  if (!name.starts_with(kSeedPrefix)) return std::nullopt;
  return number_in<int64_t>(std::string_view(name).substr(kSeedPrefix.size()));
}

// The seeds whose runs have begun, in rising order.
std::vector<int64_t> begun_seeds(const fs::path& folder) {
  std::vector<int64_t> seeds;
  if (!fs::is_directory(folder)) return seeds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::optional<int64_t> seed = seed_of(entry.path().filename().string());
    if (!seed || train::checkpoint_steps(run_of_seed(folder, *seed)).empty()) continue;
    seeds.push_back(*seed);
  }
  std::ranges::sort(seeds);
  return seeds;
}

// The run of the first seed; the folder itself when it has no runs of seeds.
fs::path first_run_in(const fs::path& folder) {
  const std::vector<int64_t> seeds = begun_seeds(folder);
  return seeds.empty() ? folder : run_of_seed(folder, seeds.front());
}

// 0 where the run does not say.
int64_t stored_num_seeds(const fs::path& run) {
  const formats::Json number = newest_options(run).value(kNumSeeds, formats::Json());
  return number.is_number_integer() ? number.get<int64_t>() : 0;
}

// A resumed run may have added seeds that the first seed's run does not know. Seeds after a gap
// belong to another run.
int64_t num_seeds_in(const fs::path& folder, int64_t of_first) {
  const std::vector<int64_t> seeds = begun_seeds(folder);
  int64_t count = of_first;
  for (const int64_t seed : seeds) {
    const int64_t place = seed - seeds.front();
    if (place > count) break;
    count = std::max({count, place + 1, stored_num_seeds(run_of_seed(folder, seed))});
  }
  return count;
}

void take_added_seeds(const OptionTable& table, const fs::path& folder, formats::Json& values) {
  if (!table.has(kNumSeeds) || table.is_given(kNumSeeds)) return;
  const int64_t of_first = values.value(kNumSeeds, int64_t{1});
  const int64_t count = num_seeds_in(folder, of_first);
  if (count == of_first) return;
  values[kNumSeeds] = count;
  say("note: num_seeds is {}: seeds were added to the {} of the first run\n", count, of_first);
}

formats::Json read_if_there(const fs::path& path) {
  return fs::exists(path) ? formats::read_json_file(path) : formats::Json::object();
}

// Whether save_path is given on the command line, or in the same place as restore_dir. If only
// restore_dir is on the command line, the save_path of a file is that of the original run.
bool says_where_to_save(const OptionTable& table) {
  const std::string& origin = table.origin("save_path");
  const bool goes_with_run = table.is_given("save_path") && origin == table.origin("restore_dir");
  return origin == kCommandLineOrigin || goes_with_run;
}

void take_save_path(const OptionTable& table, const fs::path& folder, fs::path& save_path) {
  const fs::path run = train::run_folder_of(folder);
  std::error_code unknown;  // an absent folder counts as a different one
  if (table.is_given("save_path") && !fs::equivalent(save_path, run, unknown)) {
    say("note: checkpoints go into {}, and not into the save_path {} ({}); to change that, give "
        "--save-path\n",
        run.string(), save_path.string(), table.origin("save_path"));
  }
  save_path = run;
}

}  // namespace

fs::path run_of_seed(const fs::path& folder, int64_t seed) {
  return folder / fmt::format("{}{}", kSeedPrefix, seed);
}

formats::Json newest_options(const fs::path& run) {
  const fs::path newest = train::checkpoint_path(run, train::checkpoint_steps(run).front());
  const fs::path file = newest / kStoredOptionsName;
  if (!fs::exists(file)) return formats::Json::object();
  const auto values = formats::parse_json(platform::read_file(file));
  return values && values->is_object() ? *values : formats::Json::object();
}

void take_options_of_run(OptionTable& table, RunOptions& options) {
  train::TrainingOptions& training = options.training;
  const bool is_overridden =
      precedence_of(table, "init_checkpoint") > precedence_of(table, "restore_dir");
  if (is_overridden && !training.init_checkpoint.empty()) training.restore_dir.clear();
  if (training.restore_dir.empty()) return;
  const fs::path folder = training.restore_dir;
  const fs::path run = train::checkpoint_steps(folder).empty() ? first_run_in(folder) : folder;
  training.restore_from = train::find_checkpoint(run);
  const fs::path& checkpoint = training.restore_from->path;
  if (!says_where_to_save(table)) take_save_path(table, folder, training.save_path);
  const fs::path file = checkpoint / kStoredOptionsName;
  if (!fs::exists(file)) {
    say("note: {} has no {}; options not given have defaults\n", checkpoint.string(),
        kStoredOptionsName);
    return;
  }
  formats::Json values = formats::read_json_file(file);
  if (run == folder) {
    values.erase(kNumSeeds);  // this is the run of one seed
  } else {
    take_added_seeds(table, folder, values);
  }
  const std::vector<std::string> changes =
      take_run(table, {file.string(), values, read_if_there(checkpoint / kStoredOriginsName)});
  // A single run no longer needs its start model; of several runs, some may not have begun.
  if (run != folder && training.init_checkpoint.empty()) {
    training.init_checkpoint = values.value("init_checkpoint", "");
  }
  if (changes.empty()) return;
  say("note: from here on {}\n", fmt::join(changes, ", "));
}

}  // namespace cloze::cli
