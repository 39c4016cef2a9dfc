#include "cli/validation_steps.h"

#include <algorithm>

namespace cloze::cli {

int64_t mlperf_interval(int64_t sequences_per_step) {
  constexpr int64_t kUnit = 25000;
  const double wanted = 0.05 * (230.23 * static_cast<double>(sequences_per_step) + 3'000'000);
  return static_cast<int64_t>(wanted) / kUnit * kUnit;
}

std::vector<int64_t> validation_steps(const ValidationOptions& options, int64_t sequences_per_step,
                                      int64_t num_steps) {
  std::vector<int64_t> triggers;
  for (const double trigger : options.triggers) triggers.push_back(static_cast<int64_t>(trigger));
  if (triggers.empty()) {
    const int64_t interval = options.interval.value_or(mlperf_interval(sequences_per_step));
    const int64_t end = sequences_per_step * num_steps;
    for (int64_t trigger = options.start.value_or(interval); trigger < end; trigger += interval) {
      triggers.push_back(trigger);
    }
  }
  std::vector<int64_t> steps;
  for (const int64_t trigger : triggers) {
    const int64_t step = (trigger + sequences_per_step - 1) / sequences_per_step;
    if (step < num_steps) steps.push_back(step);
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace cloze::cli
