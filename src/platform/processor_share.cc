#include "platform/processor_share.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <tuple>

#include "platform/available_threads.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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
  // Where it is refused the kernel places threads, as ever.
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace cloze::platform
