// For tests: work that may take only so much more memory.
#pragma once

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace cloze::platform {

// Limits what this process may take from now on, mapped files aside (RLIMIT_DATA).
inline void limit_further_memory(size_t bytes) {
  std::ifstream status("/proc/self/status");
  size_t kibibytes = 0;
  for (std::string word; status >> word;) {
    if (word == "VmData:") status >> kibibytes;
  }
  const rlimit limit{.rlim_cur = kibibytes * 1024 + bytes, .rlim_max = RLIM_INFINITY};
  ::setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace cloze::platform
