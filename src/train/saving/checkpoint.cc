#include "train/saving/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/whole_number.h"
#include "checkpoints/sentence_files.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "platform/process.h"
#include "train/saving/manifest.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr const char* kOptimizerName = "optimizer.safetensors";
constexpr std::string_view kTemporaryPrefix = ".tmp-checkpoint-";
constexpr std::string_view kTrashPrefix = ".trash-checkpoint-";
constexpr std::string_view kReplacedPrefix = ".old-checkpoint-";
constexpr double kSpaceMargin = 1.2;  // file systems need some of their own
constexpr double kMiB = 1 << 20;

struct StepFolder {
  int64_t step;
  fs::path path;
};

std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::optional<int64_t> step = number_in<int64_t>(name);
  return step && *step >= 0 ? step : std::nullopt;
}

// Newest first.
std::vector<StepFolder> checkpoints_in(const fs::path& folder) {
  std::vector<StepFolder> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::optional<int64_t> step = step_of(entry.path().filename().string());
    if (step && entry.is_directory()) found.push_back({*step, entry.path()});
  }
  std::sort(found.begin(), found.end(),
            [](const StepFolder& a, const StepFolder& b) { return a.step > b.step; });
  return found;
}

// ".old-checkpoint-7-123-0" → "checkpoint-7": what a checkpoint was called before it was replaced.
std::string name_before_replacement(const std::string& name) {
  const std::string_view rest = std::string_view(name).substr(kReplacedPrefix.size());
  return std::string(kPrefix) + std::string(rest.substr(0, rest.find('-')));
}

// Killed between the two renames of publish().
bool was_replaced_halfway(const fs::path& entry) {
  const std::string name = entry.filename().string();
  return name.starts_with(kReplacedPrefix) &&
         !fs::exists(entry.parent_path() / name_before_replacement(name));
}

bool has_interrupted_replacement(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (was_replaced_halfway(entry.path())) return true;
  }
  return false;
}

void recover_and_clean(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (was_replaced_halfway(entry.path())) {
      fs::rename(entry.path(), folder / name_before_replacement(name));
      continue;
    }
    if (name.starts_with(kReplacedPrefix) || name.starts_with(kTemporaryPrefix) ||
        name.starts_with(kTrashPrefix)) {
      leftovers.push_back(entry.path());
    }
  }
  for (const fs::path& path : leftovers) fs::remove_all(path);
}

// A name that no other folder has, whether of this process or of another.
std::string unique_name(std::string_view prefix, int64_t step) {
  static int count = 0;
  return fmt::format("{}{}-{}-{}", prefix, step, platform::process_id(), count++);
}

uint64_t bytes_needed(const CheckpointContent& content, const std::vector<TextFile>& files) {
  constexpr uint64_t kStateBytes = 64 << 10;
  constexpr uint64_t kHistoryBytes = 256;
  uint64_t bytes = formats::safetensors_file_bytes(content.model) +
                   formats::safetensors_file_bytes(content.optimizer) + kStateBytes +
                   kHistoryBytes * content.history.size();
  for (const TextFile& file : files) bytes += file.text.size();
  return bytes;
}

void check_free_space(const fs::path& folder, const fs::path& target, uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const double needed = kSpaceMargin * static_cast<double>(bytes);
  if (error || static_cast<double>(space.available) >= needed) return;
  throw_environment_error(
      "cannot save {}: it needs {:.0f} MiB and {} has {:.0f} MiB free; free some space or choose "
      "another save_path",
      target.string(), needed / kMiB, folder.string(), static_cast<double>(space.available) / kMiB);
}

void write_content(const fs::path& temporary, const CheckpointContent& content,
                   const std::vector<TextFile>& files) {
  formats::write_safetensors(temporary / "model.safetensors", content.model);
  formats::write_safetensors(temporary / kOptimizerName, content.optimizer);
  checkpoints::write_dense_layers(temporary, content.vector_layers, content.model);
  for (const TextFile& file : files) {
    const fs::path path = temporary / file.name;
    fs::create_directories(path.parent_path());
    platform::write_file_atomically(path, file.text);
  }
  platform::write_file_atomically(temporary / kStateName, training_state_text(content.state));
  platform::write_file_atomically(temporary / kTrainerStateName,
                                  trainer_state_text(content.state, content.history));
  write_manifest(temporary, content.state.step);
}

// Another process may be about to do the same, or to end the replacement in a live run.
void undo_interrupted_replacement(const fs::path& folder) {
  constexpr int kPauses = 20;
  constexpr std::chrono::milliseconds kPause{50};
  for (int i = 0; i <= kPauses && has_interrupted_replacement(folder); ++i) {
    try {
      const platform::FolderLock lock(folder);
      return recover_and_clean(folder);
    } catch (const std::exception&) {
      if (i == kPauses && checkpoints_in(folder).empty()) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, int64_t max_to_keep)
    : made_(folder), folder_(std::move(folder)), max_to_keep_(max_to_keep), lock_(folder_) {
  recover_and_clean(folder_);
}

fs::path CheckpointStore::save(const CheckpointContent& content) {
  const fs::path target = checkpoint_path(folder_, content.state.step);
  const std::vector<TextFile> files = content.files();
  const uint64_t bytes = bytes_needed(content, files);
  check_free_space(folder_, target, bytes);
  install(target,
          fmt::format("save {} ({:.0f} MiB)", target.string(), static_cast<double>(bytes) / kMiB),
          [&](const fs::path& temporary) { write_content(temporary, content, files); });
  rotate(target, content.state);
  return target;
}

void CheckpointStore::adopt(const fs::path& checkpoint, int64_t step) {
  const fs::path target = checkpoint_path(folder_, step);
  if (fs::exists(target) && !find_damage(target)) return;
  install(target, fmt::format("copy {} to {}", checkpoint.string(), target.string()),
          [&](const fs::path& temporary) {
            for (const auto& entry : fs::recursive_directory_iterator(checkpoint)) {
              if (!entry.is_regular_file()) continue;
              const platform::MappedFile from(entry.path());
              const fs::path to = temporary / entry.path().lexically_relative(checkpoint);
              fs::create_directories(to.parent_path());
              platform::write_file_atomically(to, from.text());
            }
          });
}

void CheckpointStore::install(const fs::path& target, const std::string& what,
                              const std::function<void(const fs::path& temporary)>& write) {
  const int64_t step = step_of(target.filename().string()).value_or(0);
  const fs::path temporary = folder_ / unique_name(kTemporaryPrefix, step);
  try {
    fs::create_directory(temporary);
    write(temporary);
    publish(temporary, target);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw_environment_error("cannot {}: {}; older checkpoints are untouched", what, error.what());
  }
}

void CheckpointStore::publish(const fs::path& temporary, const fs::path& target) {
  if (!fs::exists(target)) {
    fs::rename(temporary, target);
    platform::sync_directory(folder_);
    return;
  }
  const int64_t step = *step_of(target.filename().string());
  const fs::path replaced = folder_ / unique_name(kReplacedPrefix, step);
  fs::rename(target, replaced);
  try {
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error&) {
    fs::rename(replaced, target);
    throw;
  }
  platform::sync_directory(folder_);
  fs::remove_all(replaced);
}

// Checkpoints of later steps are damaged: otherwise the run would not have resumed from an older
// one. They do not count, so that no good one is removed because of them.
void CheckpointStore::rotate(const fs::path& just_saved, const TrainingState& state) {
  if (max_to_keep_ <= 0) return;
  int64_t kept = 1;
  for (const StepFolder& checkpoint : checkpoints_in(folder_)) {
    const bool is_best = state.best_metric && checkpoint.step == state.best_step;
    const bool is_later = checkpoint.step > state.step;
    if (checkpoint.path == just_saved || is_best || is_later) continue;
    if (kept++ < max_to_keep_) continue;
    const fs::path trash = folder_ / unique_name(kTrashPrefix, checkpoint.step);
    std::error_code error;
    fs::rename(checkpoint.path, trash, error);
    if (!error) fs::remove_all(trash, error);
    if (error) {
      throw_environment_error("saved {}, but cannot remove the older {}: {}", just_saved.string(),
                              checkpoint.path.string(), error.message());
    }
  }
}

fs::path checkpoint_path(const fs::path& folder, int64_t step) {
  return folder / fmt::format("{}{}", kPrefix, step);
}

fs::path run_folder_of(const fs::path& path) {
  std::error_code unknown;  // a path that cannot be is not there
  return fs::exists(path / kManifestName, unknown) ? fs::canonical(path).parent_path() : path;
}

std::vector<int64_t> checkpoint_steps(const fs::path& folder) {
  std::vector<int64_t> steps;
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) return steps;
  for (const StepFolder& checkpoint : checkpoints_in(folder)) steps.push_back(checkpoint.step);
  return steps;
}

FoundCheckpoint find_checkpoint(const fs::path& folder, CheckpointUse use) {
  if (std::error_code unknown; !fs::is_directory(folder, unknown)) {
    throw_user_error("{} is not a folder; give one with checkpoints", folder.string());
  }
  undo_interrupted_replacement(folder);
  std::vector<StepFolder> candidates = checkpoints_in(folder);
  if (fs::exists(folder / kManifestName)) {
    const fs::path name =
        folder.has_filename() ? folder.filename() : folder.parent_path().filename();
    candidates = {{step_of(name.string()).value_or(0), folder}};
  }
  if (candidates.empty()) {
    throw_user_error(
        "{} holds no checkpoint; give a folder with checkpoint-STEP folders, or one of "
        "those",
        folder.string());
  }
  std::vector<std::string> damaged;
  for (const auto& [step, path] : candidates) {
    const std::optional<std::string> damage =
        find_damage(path, use == CheckpointUse::kInference ? kOptimizerName : "");
    if (!damage) return {.path = path, .step = step, .skipped = std::move(damaged)};
    damaged.push_back(fmt::format("{}: {}", path.filename().string(), *damage));
  }
  throw_data_error("{} holds no undamaged checkpoint: {}", folder.string(),
                   fmt::join(damaged, "; "));
}

FoundCheckpoint checkpoint_in(const fs::path& folder, const std::optional<FoundCheckpoint>& found) {
  std::error_code missing;  // folders that are not there are not the same
  const bool is_there = found && (fs::equivalent(found->path, folder, missing) ||
                                  fs::equivalent(found->path.parent_path(), folder, missing));
  return is_there ? *found : find_checkpoint(folder);
}

OpenCheckpoint::OpenCheckpoint(const fs::path& path)
    : model(path / "model.safetensors"),
      optimizer(path / kOptimizerName),
      state(read_training_state(path / kStateName)) {}

}  // namespace cloze::train
