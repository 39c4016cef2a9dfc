#include "optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "optim/schedule_formulas.h"

namespace cloze::optim {
namespace {

// To add a schedule, add its formula and a row.
struct ScheduleRow {
  std::string_view name;
  double (*learning_rate)(const Schedule&, int64_t step);
  bool takes_parts_of_a_step = false;  // in its warm-up
};

constexpr std::array kTable{
    ScheduleRow{"polynomial_decay", polynomial_decay},
    ScheduleRow{"polynomial", polynomial_decay},
    ScheduleRow{"poly_warmup", poly_warmup, true},
    ScheduleRow{"cosine_decay", cosine_decay},
    ScheduleRow{"constant", constant_after_warmup},
};

const ScheduleRow& row_named(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &ScheduleRow::name);
  if (found == kTable.end()) {
    throw_user_error("lr_schedule {} is not known; choose {}", name,
                     fmt::join(schedule_names(), ", "));
  }
  return *found;
}

}  // namespace

void Schedule::validate() const {
  row_named(name);
  if (!(base_learning_rate > 0.0) || !std::isfinite(base_learning_rate)) {
    throw_user_error("base_learning_rate is {}; it must be above 0", base_learning_rate);
  }
  if (total_steps < 1)
    throw_user_error("the schedule has {} steps; it needs at least 1", total_steps);
  if (warmup_steps < 0 || warmup_steps > static_cast<double>(total_steps)) {
    throw_user_error("warmup of {} steps does not fit {} training steps; lower it", warmup_steps,
                     total_steps);
  }
  if (powers.empty() || powers.size() > 2) {
    throw_user_error(
        "lr_power has {} numbers; give one, or one for the warm-up and one for the decay",
        powers.size());
  }
  for (const double power : powers) {
    if (!(power > 0.0)) throw_user_error("lr_power is {}; it must be above 0", power);
  }
}

double learning_rate(const Schedule& schedule, int64_t step) {
  return row_named(schedule.name).learning_rate(schedule, step);
}

double warmup_steps(std::string_view schedule_name, double warmup, int64_t total_steps) {
  const ScheduleRow& row = row_named(schedule_name);
  if (warmup >= 0.0 && warmup < 1.0) {
    const double steps = warmup * static_cast<double>(total_steps);
    return row.takes_parts_of_a_step ? steps : std::floor(steps);
  }
  if (warmup >= 1.0 && warmup == std::floor(warmup) && warmup < 0x1p53) return warmup;
  throw_user_error("warmup is {}; give a whole number of steps or a share of all steps in [0, 1)",
                   warmup);
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const ScheduleRow& row : kTable) names.emplace_back(row.name);
  return names;
}

}  // namespace cloze::optim
