// The formulas of the schedules (schedule.h), one file each, and the warm-up that they share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "optim/schedule.h"

namespace cloze::optim {

double polynomial_decay(const Schedule& schedule, int64_t step);
double poly_warmup(const Schedule& schedule, int64_t step);
double cosine_decay(const Schedule& schedule, int64_t step);
double natural_exponential(const Schedule& schedule, int64_t step);
double linear_decay(const Schedule& schedule, int64_t step);
double custom_by_step(const Schedule& schedule, int64_t step);
double constant_after_warmup(const Schedule& schedule, int64_t step);

inline bool is_warming_up(const Schedule& schedule, int64_t step) {
  return schedule.warmup_steps > 0 && static_cast<double>(step) <= schedule.warmup_steps;
}
inline double linear_warmup(const Schedule& schedule, int64_t step) {
  const double share = static_cast<double>(step) / schedule.warmup_steps;
  return std::max(schedule.base_learning_rate * share, kMinimumLearningRate);
}

}  // namespace cloze::optim
