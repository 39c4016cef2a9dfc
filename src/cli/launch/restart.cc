#include "cli/launch/restart.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/division.h"
#include "base/error.h"
#include "cli/console/exit_code.h"
#include "configuration/foreign_system.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

constexpr int kSignalBase = 128;

// "save_path" of --save-path=run, --save_path and --output-dir; empty for a word that is not a
// flag.
std::string option_of(const std::string& word) {
  if (!word.starts_with("--")) return "";
  std::string name = word.substr(2, word.find('=') - 2);
  std::ranges::replace(name, '-', '_');
  const auto& rules = configuration::training_arguments().rules;
  const auto rule = std::ranges::find(rules, name, &configuration::KeyRule::key);
  return rule != rules.end() && !rule->option.empty() ? rule->option : name;
}

// The value of --name VALUE or --name=VALUE; empty when it is absent. With `remove`, the words are
// removed.
std::string take_option(std::vector<std::string>& words, const std::string& option, bool remove) {
  const auto found = std::ranges::find(words, option, option_of);
  if (found == words.end()) return "";
  const size_t sign = found->find('=');
  const bool has_value = sign != std::string::npos;
  const auto end = found + (has_value || found + 1 == words.end() ? 1 : 2);
  const std::string value = has_value ? found->substr(sign + 1) : *(end - 1);
  if (remove) words.erase(found, end);
  return value;
}

}  // namespace

bool may_restart(int exit_code) {
  return exit_code == static_cast<int>(ExitCode::kEnvironment) || exit_code > kSignalBase;
}

bool has_lost_process(const RunEnd& end) { return end.names_loss || end.exit_code > kSignalBase; }

std::string describe_end(int exit_code) {
  if (exit_code <= kSignalBase) return std::to_string(exit_code);
  return fmt::format("{}: a process was killed by signal {}", exit_code, exit_code - kSignalBase);
}

std::filesystem::path save_path_of(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  if (std::string path = take_option(words, "save_path", false); !path.empty()) return path;
  const std::string restored = take_option(words, "restore_dir", false);
  if (!restored.empty()) return train::run_folder_of(restored);
  throw_user_error(
      "`elastic` resumes from checkpoints, but the command does not say where they are; add "
      "--save-path FOLDER to it");
}

std::vector<std::string> resumed_command(std::vector<std::string> command,
                                         const std::filesystem::path& folder) {
  for (const char* option : {"restore_dir", "init_checkpoint", "init_optimizer", "replicas"}) {
    take_option(command, option, true);
  }
  command.insert(command.end(), {"--restore-dir", folder.string()});
  return command;
}

std::vector<std::string> restarted_command(std::vector<std::string> command,
                                           const RestartedRun& run) {
  for (const char* option : {"replicas", "gradient_accumulation_count", "global_batch_size"}) {
    take_option(command, option, true);
  }
  command.push_back(fmt::format("--global-batch-size={}", run.sequences));
  // The configuration may say how many there were.
  if (run.replicas) command.push_back(fmt::format("--replicas={}", *run.replicas));
  return command;
}

Ranks with_slots(Ranks ranks) {
  const auto count = static_cast<int>(ranks.hosts.size());
  for (Host& host : ranks.hosts) {
    if (!host.slots) host.slots = divide_up(ranks.processes, count);
  }
  return ranks;
}

Ranks ranks_left(const Ranks& ranks, const std::vector<Host>& silent) {
  Ranks left = with_slots(ranks);
  std::erase_if(left.hosts, [&](const Host& host) {
    return std::ranges::find(silent, host.name, &Host::name) != silent.end();
  });
  if (left.hosts.size() == ranks.hosts.size()) {
    --left.processes;
    return left;
  }
  int slots = 0;
  for (const Host& host : left.hosts) slots += *host.slots;
  left.processes = std::min(left.processes, slots);
  return left;
}

int whole_replicas(int processes, int processes_of_replica) {
  return processes - processes % processes_of_replica;
}

}  // namespace cloze::cli
