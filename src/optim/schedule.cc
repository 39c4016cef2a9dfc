#include "optim/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace cloze::optim {
namespace {

// 1 at the end of the warm-up, 0 at the end of training.
double remaining(const Schedule& schedule, double steps_left) {
  const double decay_steps = static_cast<double>(schedule.total_steps) - schedule.warmup_steps;
  return decay_steps > 0 ? std::max(0.0, steps_left / decay_steps) : 0.0;
}

double decayed(const Schedule& schedule, int64_t step) {
  if (schedule.kind == ScheduleKind::kConstant) return schedule.base_learning_rate;
  const auto steps_left = static_cast<double>(schedule.total_steps - step);
  const double base = schedule.base_learning_rate;
  if (schedule.powers.size() == 1 && schedule.powers[0] == 1.0) {
    return base * remaining(schedule, steps_left - 1);
  }
  return (base - kMinimumLearningRate) *
             std::pow(remaining(schedule, steps_left), schedule.powers.back()) +
         kMinimumLearningRate;
}

// The rate of the step that makes it `done` steps.
double poly_warmup(const Schedule& schedule, double done) {
  const auto total = static_cast<double>(schedule.total_steps);
  const double share =
      done < schedule.warmup_steps
          ? std::pow(done / schedule.warmup_steps, schedule.powers.front())
          : std::pow(std::max(0.0, (total - done) / total), schedule.powers.back());
  return schedule.base_learning_rate * share;
}

}  // namespace

void Schedule::validate() const {
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
  const auto counted = static_cast<double>(step);
  if (schedule.kind == ScheduleKind::kPolyWarmup) {
    return poly_warmup(schedule, counted + 1.0);
  }
  double rate = 0.0;
  if (schedule.warmup_steps > 0 && counted <= schedule.warmup_steps) {
    const double progress = counted / schedule.warmup_steps;
    const bool is_linear = schedule.kind == ScheduleKind::kConstant;
    rate =
        schedule.base_learning_rate * std::pow(progress, is_linear ? 1.0 : schedule.powers.front());
  } else {
    rate = decayed(schedule, step);
  }
  return std::max(rate, kMinimumLearningRate);
}

double warmup_steps(ScheduleKind kind, double warmup, int64_t total_steps) {
  if (warmup >= 0.0 && warmup < 1.0) {
    const double steps = warmup * static_cast<double>(total_steps);
    return kind == ScheduleKind::kPolyWarmup ? steps : std::floor(steps);
  }
  if (warmup >= 1.0 && warmup == std::floor(warmup) && warmup < 0x1p53) return warmup;
  throw_user_error("warmup is {}; give a whole number of steps or a share of all steps in [0, 1)",
                   warmup);
}

ScheduleKind schedule_named(std::string_view name) {
  if (name == "polynomial_decay" || name == "polynomial") return ScheduleKind::kPolynomial;
  if (name == "poly_warmup") return ScheduleKind::kPolyWarmup;
  if (name == "constant") return ScheduleKind::kConstant;
  throw_user_error("lr_schedule {} is not known; choose polynomial_decay, poly_warmup or constant",
                   name);
}

}  // namespace cloze::optim
