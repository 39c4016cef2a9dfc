// Finds the processors that this process may use: those it is bound to (sched_setaffinity,
// cpusets), limited to the time that the quotas of its control groups leave (cpu.max;
// cpu.cfs_quota_us of version 1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace cloze::platform {

// The number of them, at least 1. A quota counts as whole processors: 2.5 as 2.
int available_threads();

// The most threads that an option may ask for: the stacks of far more no longer fit.
inline constexpr int kMostThreads = 1024;

// The threads of an option `threads`: as many as it says, or for 0 available_threads(). UserError
// for a number that cannot be.
int resolved_threads(int64_t threads);

// The time that is left, in processors: the smallest quota of the control groups of
// /proc/self/cgroup and those above them. None where no group has one. Files that are absent or not
// understood are passed over: the kernel enforces its quotas anyway.
std::optional<double> processor_quota(const std::filesystem::path& root = "/");

// Shares the processors of a machine out to processes that start together, each bound to its own.
// Of `count` processes this is the one at `index`. What this process may use (sched_getaffinity:
// cpusets) is laid out by NUMA node, package and core, and cut into `count` runs of equal length;
// with a quota, a share takes only so many of its run that all shares together stay within it. More
// processes than processors share them. Threads that are started from now on are bound.
void take_processor_share(int index, int count);

// The share of processors in this order.
std::vector<int> processor_share(const std::vector<int>& processors, std::optional<double> quota,
                                 int index, int count);
// Sorts processors by node, package, core and number, as /sys/devices/system/cpu says.
std::vector<int> laid_out(std::vector<int> processors, const std::filesystem::path& root = "/");

}  // namespace cloze::platform
