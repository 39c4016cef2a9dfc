#include <algorithm>
#include <cmath>

#include "optim/schedule_formulas.h"

namespace cloze::optim {
namespace {

// 1 at the end of the warm-up, 0 at the end of training.
double remaining(const Schedule& schedule, double steps_left) {
  const double decay_steps = static_cast<double>(schedule.total_steps) - schedule.warmup_steps;
  return decay_steps > 0 ? std::max(0.0, steps_left / decay_steps) : 0.0;
}

double decayed(const Schedule& schedule, int64_t step) {
  const auto steps_left = static_cast<double>(schedule.total_steps - step);
  const double base = schedule.base_learning_rate;
  if (schedule.powers.size() == 1 && schedule.powers[0] == 1.0) {
    return base * remaining(schedule, steps_left - 1);
  }
  return (base - kMinimumLearningRate) *
             std::pow(remaining(schedule, steps_left), schedule.powers.back()) +
         kMinimumLearningRate;
}

}  // namespace

double polynomial_decay(const Schedule& schedule, int64_t step) {
  const auto counted = static_cast<double>(step);
  const double rate = is_warming_up(schedule, step) ? schedule.base_learning_rate *
                                     std::pow(counted / schedule.warmup_steps,
                                              schedule.powers.front())
                               : decayed(schedule, step);
  return std::max(rate, kMinimumLearningRate);
}

}  // namespace cloze::optim
