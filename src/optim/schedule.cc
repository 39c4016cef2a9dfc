#include "optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "base/error.h"

namespace cloze::optim {
namespace {

// The formulas of schedule.h, and the warm-up that some of them share.

bool is_warming_up(const Schedule& schedule, int64_t step) {
  return schedule.warmup_steps > 0 && static_cast<double>(step) <= schedule.warmup_steps;
}

double linear_warmup(const Schedule& schedule, int64_t step) {
  const double share = static_cast<double>(step) / schedule.warmup_steps;
  return std::max(schedule.base_learning_rate * share, kMinimumLearningRate);
}

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

double polynomial_decay(const Schedule& schedule, int64_t step) {
  const auto counted = static_cast<double>(step);
  const double rate = is_warming_up(schedule, step)
                          ? schedule.base_learning_rate *
                                std::pow(counted / schedule.warmup_steps, schedule.powers.front())
                          : decayed(schedule, step);
  return std::max(rate, kMinimumLearningRate);
}

double poly_warmup(const Schedule& schedule, int64_t step) {
  const auto total = static_cast<double>(schedule.total_steps);
  const auto done = static_cast<double>(step) + 1.0;
  const double share =
      done < schedule.warmup_steps
          ? std::pow(done / schedule.warmup_steps, schedule.powers.front())
          : std::pow(std::max(0.0, (total - done) / total), schedule.powers.back());
  return schedule.base_learning_rate * share;
}

double cosine_decay(const Schedule& schedule, int64_t step) {
  if (is_warming_up(schedule, step)) return linear_warmup(schedule, step);
  const auto total = static_cast<double>(schedule.total_steps);
  const double done = std::min(static_cast<double>(step), total) - schedule.warmup_steps;
  const double share = total > schedule.warmup_steps ? done / (total - schedule.warmup_steps) : 1.0;
  const double rate =
      0.5 * schedule.base_learning_rate * (1.0 + std::cos(std::numbers::pi * share));
  return std::max(rate, kMinimumLearningRate);
}

double natural_exponential(const Schedule& schedule, int64_t step) {
  const auto counted = static_cast<double>(step);
  const double warmup = schedule.warmup_steps;
  if (warmup > 0 && counted <= warmup) return schedule.base_learning_rate * counted / warmup;
  const double decays = std::floor((counted - warmup) / static_cast<double>(schedule.decay_steps));
  return schedule.base_learning_rate * std::exp(-schedule.decay_rate * decays);
}

double linear_decay(const Schedule& schedule, int64_t step) {
  const auto counted = static_cast<double>(step);
  const double warmup = schedule.warmup_steps;
  if (counted < warmup) return schedule.base_learning_rate * counted / warmup;
  const auto total = static_cast<double>(schedule.total_steps);
  if (counted >= total) return 0.0;
  return schedule.base_learning_rate * (total - counted) / (total - warmup);
}

double linear_held(const Schedule& schedule, int64_t step) {
  const int64_t held = std::min(step, schedule.total_steps - 1);
  return std::max(linear_decay(schedule, held), kMinimumLearningRate);
}

double custom_by_step(const Schedule& schedule, int64_t step) {
  return std::prev(schedule.rates_by_step.upper_bound(step))->second;
}

double constant_after_warmup(const Schedule& schedule, int64_t step) {
  if (is_warming_up(schedule, step)) return linear_warmup(schedule, step);
  return std::max(schedule.base_learning_rate, kMinimumLearningRate);
}

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
  static const std::vector<std::string_view> warmed = {"base_learning_rate", "warmup",
                                                       "warmup_rounds_up"};
  static const std::vector<std::string_view> powered = {"base_learning_rate", "warmup",
                                                        "warmup_rounds_up", "lr_power"};
  static const std::vector<ScheduleRow> rows{
      {"polynomial_decay", polynomial_decay, powered},
      {"polynomial", polynomial_decay, powered},
      {"poly_warmup", poly_warmup, {"base_learning_rate", "warmup", "lr_power"}, nullptr, true},
      {"cosine_decay", cosine_decay, warmed},
      {"natural_exponential",
       natural_exponential,
       {"base_learning_rate", "warmup", "warmup_rounds_up", "decay_rate", "decay_steps"},
       check_exponential},
      {"linear", linear_decay, warmed},
      {"linear_held", linear_held, warmed},
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
  const bool is_share = warmup >= 0.0 && warmup < 1.0;
  const bool is_count = warmup >= 1.0 && warmup == std::floor(warmup) && warmup < 0x1p53;
  if (!is_share && !is_count) {
    throw_user_error(
        "`warmup` is {}; give a whole number of steps or a share of all steps in [0, 1)", warmup);
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

Schedule Schedule::over(int64_t steps) const {
  CLOZE_CHECK(steps > 0, "a schedule over {} steps", steps);
  Schedule schedule = *this;
  const auto all = static_cast<double>(steps);
  schedule.total_steps = steps;
  schedule.warmup_steps = warmup < 1.0 ? warmup * all : std::min(warmup, all);
  if (!row_named(name).takes_parts_of_a_step) {
    schedule.warmup_steps =
        rounds_warmup_up ? std::ceil(schedule.warmup_steps) : std::floor(schedule.warmup_steps);
  }
  return schedule;
}

double learning_rate(const Schedule& schedule, int64_t step) {
  return row_named(schedule.name).learning_rate(schedule, step);
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
