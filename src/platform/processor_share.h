// The processors of a machine shared out to processes that start together, each bound to its own.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace cloze::platform {

// Of `count` processes this is the one at `index`. What this process may use (sched_getaffinity:
// cpusets) is laid out by NUMA node, package and core, and cut into `count` runs of equal length;
// with a quota (available_threads.h) a share has so many of its run that all together keep to it.
// More processes than processors share them. Threads that are started from now on are bound.
void take_processor_share(int index, int count);

// The share of processors that are laid out so.
std::vector<int> processor_share(const std::vector<int>& processors, std::optional<double> quota,
                                 int index, int count);
// By node, package, core and number, as /sys/devices/system/cpu says.
std::vector<int> laid_out(std::vector<int> processors, const std::filesystem::path& root = "/");

}  // namespace cloze::platform
