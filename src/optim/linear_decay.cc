#include "optim/schedule_formulas.h"

namespace cloze::optim {

double linear_decay(const Schedule& schedule, int64_t step) {
  const auto counted = static_cast<double>(step);
  const double warmup = schedule.warmup_steps;
  if (counted < warmup) return schedule.base_learning_rate * counted / warmup;
  const auto total = static_cast<double>(schedule.total_steps);
  if (counted >= total) return 0.0;
  return schedule.base_learning_rate * (total - counted) / (total - warmup);
}

}  // namespace cloze::optim
