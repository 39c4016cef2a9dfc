#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "cli/console/exit_code.h"
#include "cli/console/say.h"
#include "cli/launch/host_list.h"
#include "cli/launch/mpirun_command.h"
#include "cli/launch/ranks.h"
#include "cli/launch/replica.h"
#include "cli/launch/restart.h"
#include "cli/options/commands.h"
#include "comm/heartbeat.h"
#include "comm/launch_watch.h"
#include "platform/child.h"
#include "platform/process.h"
#include "platform/signals.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

using platform::ChildProgram;
using Clock = std::chrono::steady_clock;

// Time for mpirun to end after the ranks have: it may wait for a host that is cut off.
constexpr std::chrono::seconds kGrace{10};
constexpr std::chrono::milliseconds kLookAround{100};
// A request to stop may come while mpirun has not yet started all ranks.
constexpr std::chrono::seconds kAskAgain{5};

struct LaunchOptions {
  int64_t processes = 1;
  std::filesystem::path hosts;
  std::string remote_shell = "ssh";
  bool elastic = false;
  int64_t max_restarts = 3;
  bool dry_run = false;
};

void add_launch_options(OptionTable& table, LaunchOptions& o) {
  table.set_usage("-n N [OPTIONS] -- COMMAND ...");
  table.add("processes", &o.processes, "Total number of processes; -n is short for it",
            {.minimum = 1, .maximum = INT32_MAX, .is_required = true});
  table.add("hosts", &o.hosts,
            "Machines to start them on: a file with a line NAME slots=4 for each (this machine)");
  table.add("remote_shell", &o.remote_shell,
            "Program that runs a command on a host, as ssh does: PROGRAM HOST COMMAND");
  table.add("elastic", &o.elastic,
            "When a process or host is lost, resume from the newest checkpoint with those that are "
            "left");
  table.add("max_restarts", &o.max_restarts, "Maximum number of times that elastic resumes",
            {.minimum = 0});
  table.add("dry_run", &o.dry_run, "Print the mpirun command and start nothing");
}

MpirunSetting setting_of(const LaunchOptions& options, const std::vector<std::string>& command) {
  MpirunSetting setting{.processes = static_cast<int>(options.processes),
                        .hosts_file = options.hosts,
                        .is_superuser = platform::is_superuser(),
                        .can_read_others = platform::can_read_other_processes(),
                        .command = {platform::path_of_this_program()}};
  const auto mpirun = platform::find_program("mpirun");
  if (!mpirun) {
    throw_environment_error("mpirun is not installed; install openmpi-bin, on each host of a run");
  }
  const std::string& shell = options.remote_shell;
  const bool is_path = shell.find('/') != std::string::npos;
  setting.remote_shell = is_path ? shell : platform::find_program(shell).value_or("");
  if (!options.hosts.empty() && setting.remote_shell.empty()) {
    throw_environment_error(
        "there is no {} to reach hosts with; install it, or name another "
        "program with --remote-shell",
        shell);
  }
  setting.mpirun = *mpirun;
  setting.command.insert(setting.command.end(), command.begin(), command.end());
  return setting;
}

// Writes what mpirun says to standard error, and listens for last words.
class Listener {
 public:
  void listen(const std::string& more) {
    std::fwrite(more.data(), 1, more.size(), stderr);
    said_.erase(0, said_.size() - std::min(said_.size(), comm::kLastWords.size()));
    said_ += more;
    heard_ |= said_.find(comm::kLastWords) != std::string::npos;
  }
  bool has_heard() const { return heard_; }

 private:
  std::string said_;
  bool heard_ = false;
};

// mpirun ends ranks that are stopped, where it is asked to; killed at once, it would leave them.
void end_ranks(ChildProgram& mpirun) {
  mpirun.ask_to_end();
  for (const auto deadline = Clock::now() + kGrace;
       !mpirun.exit_code() && Clock::now() < deadline;) {
    mpirun.read_errors(kLookAround);
  }
  if (!mpirun.exit_code()) mpirun.kill();
}

// Passes on what mpirun says, and requests to stop. Where ranks have ended themselves, and mpirun
// has not, it is ended with their code; and where all ranks stand still.
RunEnd watch(ChildProgram& mpirun, comm::LaunchWatch& ranks) {
  Listener listener;
  std::optional<Clock::time_point> deadline, asked;
  while (!mpirun.exit_code()) {
    listener.listen(mpirun.read_errors(kLookAround));
    if (listener.has_heard() && !deadline) deadline = Clock::now() + kGrace;
    if (deadline && Clock::now() > *deadline) {
      say("cloze: mpirun still waits for a lost process; ending it\n");
      mpirun.kill();
      return {.exit_code = static_cast<int>(ExitCode::kEnvironment), .names_loss = true};
    }
    if (const std::optional<double> silence = ranks.find_silence(Clock::now())) {
      say("cloze: no rank has been heard from for {:.0f} s: all are stopped, or cannot be reached; "
          "ending them\n",
          *silence);
      end_ranks(mpirun);
      return {.exit_code = static_cast<int>(ExitCode::kEnvironment)};
    }
    if (!platform::stop_requested() || (asked && Clock::now() < *asked + kAskAgain)) continue;
    mpirun.ask_to_stop();
    asked = Clock::now();
  }
  for (std::string rest; !(rest = mpirun.read_errors(std::chrono::milliseconds(0))).empty();) {
    listener.listen(rest);
  }
  return {.exit_code = *mpirun.exit_code(), .names_loss = listener.has_heard()};
}

// What was to be launched, and where its checkpoints are.
struct ElasticRun {
  std::vector<std::string> command;
  int processes = 0;
  std::filesystem::path folder;
};

// The newest checkpoint to go on from; nothing before the first.
std::optional<std::string> newest_checkpoint(const std::filesystem::path& folder) {
  if (train::checkpoint_steps(folder).empty()) return std::nullopt;
  return train::find_checkpoint(folder).path.string();
}

// The command that the processes run next. replicas: nothing in one process. When a run resumes,
// its checkpoint says how many sequences a step has.
std::vector<std::string> next_command(const ElasticRun& run, bool goes_on,
                                      std::optional<int> replicas) {
  if (goes_on) return resumed_command(run.command, run.folder);
  const int64_t sequences = sequences_of_launched_step(run.command, run.processes);
  return restarted_command(run.command, {.sequences = sequences, .replicas = replicas});
}

// Removes the ranks that such a run has lost, to repeat its command with those left. False when the
// run may not go on.
bool take_losses(MpirunSetting& setting, Ranks& ranks, const RunEnd& ended, const ElasticRun& run) {
  const std::vector<Host> silent = silent_hosts(ranks.hosts, setting.remote_shell);
  if (!may_restart(ended.exit_code) && silent.empty()) return false;
  const std::string end =
      fmt::format("the run ended with {}{}", describe_end(ended.exit_code),
                  silent.empty() ? "" : ", and no answer from " + names_of(silent));
  const std::optional<std::string> start = newest_checkpoint(run.folder);
  const int of_replica =
      processes_of_replica(start ? resumed_command(run.command, run.folder) : run.command);
  if (!silent.empty() || has_lost_process(ended)) ranks = ranks_left(ranks, silent);
  if (ranks.processes < of_replica) {
    say("cloze: {}; it cannot continue with {} of the {} processes that one replica of the model "
        "takes; start it again on more processes, or with other pipeline_stages\n",
        end, ranks.processes, of_replica);
    return false;
  }
  ranks.processes = whole_replicas(ranks.processes, of_replica);
  setting.processes = ranks.processes;
  setting.hosts = ranks.hosts;
  setting.command = {setting.command.front()};
  const bool is_one = ranks.processes == 1;
  std::ranges::move(
      next_command(run, start.has_value(),
                   is_one ? std::nullopt : std::optional(ranks.processes / of_replica)),
      std::back_inserter(setting.command));
  say("cloze: {}; {} {} from {}\n", end, ranks.processes,
      is_one ? "process continues" : "processes continue", start.value_or("the start"));
  return true;
}

Ranks ranks_of(const LaunchOptions& options) {
  Ranks ranks{.processes = static_cast<int>(options.processes), .hosts = {}};
  if (!options.hosts.empty()) ranks.hosts = read_hosts(options.hosts);
  return with_slots(std::move(ranks));
}

void require_answers(const Ranks& ranks, const MpirunSetting& setting) {
  const std::vector<Host> silent = silent_hosts(ranks.hosts, setting.remote_shell);
  platform::stop_if_requested();  // a Ctrl-C ends the remote shells too
  if (silent.empty()) return;
  throw_environment_error(
      "no answer from {}: `{} {} true` must work without a password; fix that, or remove the host "
      "from the hosts file",
      names_of(silent), setting.remote_shell, silent.front().name);
}

void run_launch(const LaunchOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) {
    throw_user_error(
        "launch has nothing to start; write it after --: cloze launch -n {} -- "
        "pretrain ...",
        options.processes);
  }
  require_may_be_shared(command.front());
  ElasticRun run{.command = command, .processes = static_cast<int>(options.processes)};
  // Done now, as the checkpoint that the command names may be removed before a process is lost.
  if (options.elastic) run.folder = save_path_of(command);
  Ranks ranks = ranks_of(options);
  MpirunSetting setting = setting_of(options, command);
  if (options.dry_run) {
    fmt::print("{}\n", shell_line(mpirun_command(setting)));
    return;
  }
  platform::install_stop_signals();
  require_answers(ranks, setting);
  for (int64_t restarts = 0;; ++restarts) {
    comm::LaunchWatch launched;
    setting.launcher = launched.address();
    ChildProgram mpirun(mpirun_command(setting), ChildProgram::Output::kWatched);
    const RunEnd end = watch(mpirun, launched);
    const bool goes_on = end.exit_code != 0 && options.elastic && !platform::stop_requested() &&
                         restarts < options.max_restarts && take_losses(setting, ranks, end, run);
    if (!goes_on || platform::stop_requested())
      throw EarlyExit{static_cast<ExitCode>(end.exit_code)};
  }
}

}  // namespace

void add_launch(Subcommand program, std::vector<std::string> command) {
  program.add_command("launch",
                      {"Start a command in several processes with mpirun",
                       "cloze launch -n 2 -- pretrain --config bert_tiny --input-file 'text/*.txt' "
                       "--vocab-file vocab.txt --save-path run"},
                      add_launch_options, [command = std::move(command)](LaunchOptions& options) {
                        run_launch(options, command);
                      });
}

}  // namespace cloze::cli
