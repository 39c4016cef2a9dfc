// The clock of benches: processor time of a single thread, which busy neighbours disturb little;
// with more threads, wall-clock time.
#pragma once

#include <chrono>
#include <ctime>

namespace cloze::bench {

inline double seconds(int num_threads) {
  if (num_threads == 1) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace cloze::bench
