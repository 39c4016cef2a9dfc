#include <algorithm>

#include "optim/schedule_formulas.h"

namespace cloze::optim {

double constant_after_warmup(const Schedule& schedule, int64_t step) {
  if (is_warming_up(schedule, step)) return linear_warmup(schedule, step);
  return std::max(schedule.base_learning_rate, kMinimumLearningRate);
}

}  // namespace cloze::optim
