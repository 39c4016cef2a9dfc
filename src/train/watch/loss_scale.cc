#include "train/watch/loss_scale.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace cloze::train {
namespace {

constexpr double kLargest = 0x1p24;

template <typename T>
void require_default(const char* name, T value, T default_value) {
  if (value == default_value) return;
  throw_user_error("{} {} is for a dynamic loss scale; add loss_scaling 0, or leave it out", name,
                   value);
}

}  // namespace

bool LossScaleOptions::is_dynamic(DType compute_dtype) const {
  return by_step.empty() && given.value_or(compute_dtype == DType::kF16 ? 0.0 : 1.0) == 0.0;
}

void LossScaleOptions::validate(DType compute_dtype) const {
  if (!by_step.empty() && given) {
    throw_user_error("loss_scaling {} and loss_scaling_by_step both give the loss scale; give one",
                     *given);
  }
  if (!by_step.empty() && by_step.begin()->first != 0) {
    throw_user_error("loss_scaling_by_step begins at step {}; give the scale for step 0 too",
                     by_step.begin()->first);
  }
  constexpr double kLeast = 0x1p-24;
  if (given && *given > 0.0 && *given < kLeast) {
    throw_user_error("loss_scaling {} is too small to divide by; give {} or more, or 0: dynamic",
                     *given, kLeast);
  }
  if (initial < minimum) {
    throw_user_error("init_loss_scale {} is below min_loss_scale {}; raise it", initial, minimum);
  }
  if (is_dynamic(compute_dtype)) return;
  const LossScaleOptions defaults;
  require_default("init_loss_scale", initial, defaults.initial);
  require_default("loss_scale_window", window, defaults.window);
  require_default("min_loss_scale", minimum, defaults.minimum);
}

LossScale::LossScale(LossScaleOptions options, DType compute_dtype)
    : options_(std::move(options)),
      is_dynamic_(options_.is_dynamic(compute_dtype)),
      skips_overflows_(is_dynamic_ || compute_dtype == DType::kF16) {}

double LossScale::at(int64_t step, const LossScaleState& state) const {
  if (is_dynamic_) return state.dynamic.value_or(options_.initial);
  if (options_.by_step.empty()) return options_.given.value_or(1.0);
  return std::prev(options_.by_step.upper_bound(step))->second;
}

void LossScale::take_good_step(LossScaleState& state) const {
  state.overflows = 0;
  if (!is_dynamic_) {
    state.dynamic.reset();
    return;
  }
  state.dynamic = state.dynamic.value_or(options_.initial);
  if (++state.good_steps < options_.window) return;
  state.good_steps = 0;
  state.dynamic = std::min(2.0 * *state.dynamic, std::max(kLargest, *state.dynamic));
}

bool LossScale::take_overflow(LossScaleState& state) const {
  ++state.overflows;
  state.good_steps = 0;
  if (!is_dynamic_) return state.overflows < kMostOverflows;
  const double half = state.dynamic.value_or(options_.initial) / 2.0;
  if (half < options_.minimum) return false;
  state.dynamic = half;
  return true;
}

}  // namespace cloze::train
