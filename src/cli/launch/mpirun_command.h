// The mpirun that `cloze launch` starts, word by word.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/launch/host_list.h"

namespace cloze::cli {

// In the environment of processes that divide the processors of their host among themselves: they
// know its cpusets and quotas, which mpirun does not.
inline constexpr const char* kSharesProcessors = "CLOZE_SHARES_PROCESSORS";

struct MpirunSetting {
  std::string mpirun = "mpirun";
  int processes = 1;
  std::filesystem::path hosts_file;  // empty: this machine alone, or `hosts`
  std::vector<Host> hosts;           // instead of the file; each has slots
  std::string remote_shell;          // to reach hosts; empty: there is none, nor any need
  std::string launcher;              // comm::kLauncher; empty: nobody listens
  bool is_superuser = false;         // mpirun refuses to work for root unless it is told
  bool can_read_others = true;       // shared memory is copied once: platform/process.h
  std::vector<std::string> command;  // the program and its words
};
std::vector<std::string> mpirun_command(const MpirunSetting& setting);

// As a shell would take it.
std::string shell_line(const std::vector<std::string>& words);

// `launch -n 4 -- pretrain ...`: takes off what comes after the "--", and writes -n as --processes.
// Leaves other commands alone.
std::vector<std::string> take_launched_command(std::vector<std::string>& words);

}  // namespace cloze::cli
