// What `cloze launch --elastic` makes of a run that lost a process, or that its machine failed: the
// same run, with the processes left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/launch/host_list.h"

namespace cloze::cli {

// Whether mpirun's exit code says that a process was killed, or that ranks found one lost or the
// machine at fault. Not after an error of the user, bad data, divergence or a request to stop.
bool may_restart(int exit_code);
// How a run ended.
struct RunEnd {
  int exit_code = 0;        // mpirun's
  bool names_loss = false;  // the ranks said that one of them is lost
};
// Whether there is a process less. A full disk, for one, ends a run whose processes are all there.
bool has_lost_process(const RunEnd& end);
// "137: a process was killed by signal 9"
std::string describe_end(int exit_code);

// Where the checkpoints of a command go: its --save-path, or else its --restore-dir; where that is a
// checkpoint, which must still exist, the folder around it. UserError without either.
std::filesystem::path save_path_of(const std::vector<std::string>& command);
// The command that goes on from the newest checkpoint of the folder, on any number of replicas.
std::vector<std::string> resumed_command(std::vector<std::string> command,
                                         const std::filesystem::path& folder);
// A run that begins again, on another number of replicas.
struct RestartedRun {
  int64_t sequences = 0;        // in a step, as many as it had
  std::optional<int> replicas;  // nothing in one process
};
// The command of such a run, whatever `command` or its configuration says about batch and replicas.
std::vector<std::string> restarted_command(std::vector<std::string> command,
                                           const RestartedRun& run);

// Where a run of so many processes goes on.
struct Ranks {
  int processes = 0;        // 0: none are left
  std::vector<Host> hosts;  // each with slots; empty: this machine
};
// Without the silent hosts and the processes on them; where all answer, with one process less.
Ranks ranks_left(const Ranks& ranks, const std::vector<Host>& silent);
// The most of these processes that make whole replicas of the model, each of which takes
// processes_of_replica.
int whole_replicas(int processes, int processes_of_replica);
// Hosts without slots get an equal part of the processes.
Ranks with_slots(Ranks ranks);

}  // namespace cloze::cli
