// How many processors this process may use: those it is bound to (sched_setaffinity, cpusets), and
// of their time what the quotas of its control groups leave (cpu.max; cpu.cfs_quota_us of version
// 1).
#pragma once

#include <filesystem>
#include <optional>

namespace cloze::platform {

// At least 1. A quota counts as whole processors: 2.5 as 2.
int available_threads();

// In processors: the smallest quota of the control groups of /proc/self/cgroup and those above
// them. None where no group has one. Files that are absent or not understood are passed over: the
// kernel keeps to its quotas anyway.
std::optional<double> processor_quota(const std::filesystem::path& root = "/");

}  // namespace cloze::platform
