#include <iterator>

#include "optim/schedule_formulas.h"

namespace cloze::optim {

double custom_by_step(const Schedule& schedule, int64_t step) {
  return std::prev(schedule.rates_by_step.upper_bound(step))->second;
}

}  // namespace cloze::optim
