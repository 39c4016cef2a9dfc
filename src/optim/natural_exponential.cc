#include <cmath>

#include "optim/schedule_formulas.h"

namespace cloze::optim {

double natural_exponential(const Schedule& schedule, int64_t step) {
  const auto counted = static_cast<double>(step);
  const double warmup = schedule.warmup_steps;
  if (warmup > 0 && counted <= warmup) return schedule.base_learning_rate * counted / warmup;
  const double decays = std::floor((counted - warmup) / static_cast<double>(schedule.decay_steps));
  return schedule.base_learning_rate * std::exp(-schedule.decay_rate * decays);
}

}  // namespace cloze::optim
