#include "optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "optim/schedule_formulas.h"

namespace cloze::optim {
namespace {

// To add a schedule, add its formula and a row.
struct ScheduleRow {
  std::string_view name;
  double (*learning_rate)(const Schedule&, int64_t step);
  std::vector<std::string_view> options;     // that it reads
  void (*check)(const Schedule&) = nullptr;  // of what only it reads: UserError
  bool takes_parts_of_a_step = false;        // in its warm-up
};

void check_exponential(const Schedule& schedule) {
  if (!(schedule.decay_rate > 0.0) || !std::isfinite(schedule.decay_rate)) {
    throw_user_error("lr_schedule natural_exponential has decay_rate {}; give one above 0",
                     schedule.decay_rate);
  }
  if (schedule.decay_steps < 1) {
    throw_user_error("lr_schedule natural_exponential has decay_steps {}; give at least 1",
                     schedule.decay_steps);
  }
}

void check_rates_by_step(const Schedule& schedule) {
  const std::map<int64_t, double>& rates = schedule.rates_by_step;
  if (!rates.contains(0)) {
    throw_user_error(
        "lr_schedule custom needs lr_schedule_by_step with a rate for step 0, as in \"0:1e-4,"
        "1000:5e-5\"");
  }
  for (const auto& [step, rate] : rates) {
    if (step < 0 || !(rate >= 0.0) || !std::isfinite(rate)) {
      throw_user_error("lr_schedule_by_step has rate {} at step {}; steps and rates are 0 or more",
                       rate, step);
    }
  }
}

const std::vector<ScheduleRow>& table() {
  static const std::vector<std::string_view> warmed = {"base_learning_rate", "warmup"};
  static const std::vector<std::string_view> powered = {"base_learning_rate", "warmup", "lr_power"};
  static const std::vector<ScheduleRow> rows{
      {"polynomial_decay", polynomial_decay, powered},
      {"polynomial", polynomial_decay, powered},
      {"poly_warmup", poly_warmup, powered, nullptr, true},
      {"cosine_decay", cosine_decay, warmed},
      {"natural_exponential",
       natural_exponential,
       {"base_learning_rate", "warmup", "decay_rate", "decay_steps"},
       check_exponential},
      {"linear", linear_decay, warmed},
      {"custom", custom_by_step, {"lr_schedule_by_step"}, check_rates_by_step},
      {"constant", constant_after_warmup, warmed},
  };
  return rows;
}

const ScheduleRow& row_named(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &ScheduleRow::name);
  if (found == table().end()) {
    throw_user_error("lr_schedule {} is not known; choose {}", name,
                     fmt::join(schedule_names(), ", "));
  }
  return *found;
}

}  // namespace

void Schedule::validate() const {
  if (const ScheduleRow& row = row_named(name); row.check != nullptr) row.check(*this);
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

std::vector<std::string_view> schedule_options(std::string_view schedule_name) {
  return row_named(schedule_name).options;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const ScheduleRow& row : table()) names.emplace_back(row.name);
  return names;
}

}  // namespace cloze::optim
