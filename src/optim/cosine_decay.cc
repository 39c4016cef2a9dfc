#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/schedule_formulas.h"

namespace cloze::optim {

double cosine_decay(const Schedule& schedule, int64_t step) {
  if (is_warming_up(schedule, step)) return linear_warmup(schedule, step);
  const auto total = static_cast<double>(schedule.total_steps);
  const double done = std::min(static_cast<double>(step), total) - schedule.warmup_steps;
  const double share = total > schedule.warmup_steps ? done / (total - schedule.warmup_steps) : 1.0;
  const double rate =
      0.5 * schedule.base_learning_rate * (1.0 + std::cos(std::numbers::pi * share));
  return std::max(rate, kMinimumLearningRate);
}

}  // namespace cloze::optim
