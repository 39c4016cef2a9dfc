#include "platform/available_threads.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>

#include "base/error.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;
using Quota = std::optional<double>;

Quota smaller(Quota a, Quota b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

Quota ratio(double quota, double period) {
  if (quota <= 0.0 || period <= 0.0) return std::nullopt;
  return quota / period;
}

// "150000 100000", microseconds of each period; "max 100000" for no limit.
Quota unified_quota(const fs::path& group) {
  double quota = 0.0, period = 0.0;
  std::ifstream(group / "cpu.max") >> quota >> period;
  return ratio(quota, period);
}

// -1 for no limit.
Quota legacy_quota(const fs::path& group) {
  double quota = 0.0, period = 0.0;
  std::ifstream(group / "cpu.cfs_quota_us") >> quota;
  std::ifstream(group / "cpu.cfs_period_us") >> period;
  return ratio(quota, period);
}

// A group's limit applies to all groups below it. If a container hides the groups above its own,
// the path that it shows does not exist, but the topmost group that it shows is its own.
Quota smallest_quota(const fs::path& mount, fs::path group, Quota (*quota_of)(const fs::path&)) {
  group = group.relative_path();
  Quota smallest = quota_of(mount);
  for (; !group.empty(); group = group.parent_path()) {
    smallest = smaller(smallest, quota_of(mount / group));
  }
  return smallest;
}

bool names_processors(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

// "4:cpu,cpuacct:/group" of version 1, "0::/group" of version 2.
Quota quota_of_line(const fs::path& mounts, const std::string& line) {
  std::istringstream fields(line);
  std::string hierarchy, controllers, group;
  std::getline(fields, hierarchy, ':');
  std::getline(fields, controllers, ':');
  std::getline(fields, group);
  if (hierarchy == "0" && controllers.empty()) return smallest_quota(mounts, group, unified_quota);
  if (!names_processors(controllers)) return std::nullopt;
  return smaller(smallest_quota(mounts / controllers, group, legacy_quota),
                 smallest_quota(mounts / "cpu", group, legacy_quota));
}

int number_in(const fs::path& file) {
  int number = 0;
  std::ifstream(file) >> number;
  return number;
}

// A folder "node1" among its entries.
int node_of(const fs::path& processor) {
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(processor, absent)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("node")) return std::atoi(name.c_str() + 4);
  }
  return 0;
}

std::tuple<int, int, int, int> place_of(int processor, const fs::path& root) {
  const fs::path folder = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor));
  return {node_of(folder), number_in(folder / "topology/physical_package_id"),
          number_in(folder / "topology/core_id"), processor};
}

int bound_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

Quota processor_quota(const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  Quota smallest;
  for (std::string line; std::getline(groups, line);) {
    smallest = smaller(smallest, quota_of_line(root / "sys/fs/cgroup", line));
  }
  return smallest;
}

int available_threads() {
  const int bound = bound_processors();
  const Quota quota = processor_quota();
  return std::max(1, quota && *quota < bound ? static_cast<int>(*quota) : bound);
}

int resolved_threads(int64_t threads) {
  if (threads < 0 || threads > kMostThreads) {
    throw_user_error("`threads` is {}; choose 1 to {}, or 0 for all processors", threads,
                     kMostThreads);
  }
  return threads > 0 ? static_cast<int>(threads) : std::min(available_threads(), kMostThreads);
}

std::vector<int> laid_out(std::vector<int> processors, const fs::path& root) {
  std::vector<std::tuple<int, int, int, int>> places;
  for (const int processor : processors) places.push_back(place_of(processor, root));
  std::ranges::sort(places);
  for (size_t i = 0; i < places.size(); ++i) processors[i] = std::get<3>(places[i]);
  return processors;
}

std::vector<int> processor_share(const std::vector<int>& processors, std::optional<double> quota,
                                 int index, int count) {
  const auto all = std::ssize(processors);
  const auto usable = std::min(all, static_cast<std::ptrdiff_t>(quota.value_or(1e9)));
  const auto begin = processors.begin() + all * index / count;
  return {begin, begin + std::max<std::ptrdiff_t>(usable / count, 1)};
}

void take_processor_share(int index, int count) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  CPU_ZERO(&allowed);
  for (const int own : processor_share(laid_out(processors), processor_quota(), index, count)) {
    CPU_SET(own, &allowed);
  }
  // If this is refused, the kernel places the threads, as usual.
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace cloze::platform
