// Launches of kernels in the emulation's tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/gpu/gpu.h"
#include "backend/gpu/launcher.h"
#include "backend/host/host_device.h"

namespace cloze::backend::gpu {

inline constexpr int64_t kNumbers = 256;
inline constexpr uint64_t kSeeds = 25;

// The arguments of the kernels of these tests.
struct Numbers {
  Global<const float> x;
  Global<float> y;
};

struct LaunchOutcome {
  std::vector<float> y = std::vector<float>(kNumbers, -1.0f);
  std::vector<emulation::Finding> findings;
  emulation::AccessTotals totals;

  std::string texts() const {
    std::string lines;
    for (const emulation::Finding& finding : findings) lines += finding.text + "\n";
    return lines;
  }
};

// Runs a kernel with x = 0, 1, 2 ...
template <typename K>
LaunchOutcome launch_numbers(uint64_t seed, const Grid& grid) {
  emulation::set_seed(seed);
  alignas(64) float x[kNumbers];
  for (int64_t i = 0; i < kNumbers; ++i) x[i] = static_cast<float>(i);
  LaunchOutcome outcome;
  host::HostStream stream;
  emulation::AccessCounts counts;
  Launcher launcher("test", stream);
  emulation::count_accesses(&counts);
  launcher.launch<K>(grid, {launcher.tensor<const float>("x", x, kNumbers),
                            launcher.tensor("y", outcome.y.data(), kNumbers)});
  emulation::count_accesses(nullptr);
  outcome.findings = launcher.findings();
  outcome.totals = counts.totals();
  return outcome;
}

}  // namespace cloze::backend::gpu
