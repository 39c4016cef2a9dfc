#include <algorithm>
#include <cmath>

#include "optim/schedule_formulas.h"

namespace cloze::optim {

double poly_warmup(const Schedule& schedule, int64_t step) {
  const auto total = static_cast<double>(schedule.total_steps);
  const auto done = static_cast<double>(step) + 1.0;
  const double share =
      done < schedule.warmup_steps
          ? std::pow(done / schedule.warmup_steps, schedule.powers.front())
          : std::pow(std::max(0.0, (total - done) / total), schedule.powers.back());
  return schedule.base_learning_rate * share;
}

}  // namespace cloze::optim
