// Handles steps that go wrong: finds them, and skips them, rolls back or ends the run.
#include <fmt/format.h>

#include <cmath>

#include "train/training.h"

namespace cloze::train {

std::string Training::last_saved() {
  finish_saving();
  const std::vector<int64_t> steps = checkpoint_steps(store_.folder());
  if (steps.empty()) return "No checkpoint had been saved";
  return fmt::format("The newest checkpoint is {}",
                     checkpoint_path(store_.folder(), steps.front()).string());
}

// Weights and moments that are not finite themselves are no overflow: no scale would help.
bool Training::is_overflow(const StepResult& result) {
  return !result.is_finite() && loss_scale_.skips_overflows() && !find_non_finite_state(step_);
}

void Training::take_overflow(const data::StepBatch& batch, double scale) {
  const int64_t step = state_.step + 1;
  if (!loss_scale_.take_overflow(state_.loss_scale)) {
    const std::string floor = fmt::format(", and half of it would be below min_loss_scale {}",
                                          options_.loss_scale.minimum);
    throw DivergenceError(fmt::format(
        "step {} overflows with loss scale {} (overflows in a row: {}){}. {}. {}. Lower "
        "base_learning_rate, compute in bf16 or f32 (precision), or lower {}",
        step, scale, state_.loss_scale.overflows, loss_scale_.is_dynamic() ? floor : "",
        origin_of(step_, batch, state_.step), last_saved(),
        loss_scale_.is_dynamic() ? "min_loss_scale" : "the loss scale"));
  }
  skip(batch);
  notice_(fmt::format("step {} overflowed with loss scale {} and is skipped; the next has {}", step,
                      scale, loss_scale_.at(state_.step, state_.loss_scale)));
}

std::optional<StepProblem> Training::find_problem(const StepResult& result,
                                                  const data::StepBatch& batch,
                                                  double learning_rate) {
  if (!result.is_finite()) {
    return StepProblem{
        .what = fmt::format("{}; nothing was updated. {}", not_finite_step(state_.step + 1, result),
                            origin_of(step_, batch, state_.step)),
        .advice = "Lower base_learning_rate, or start from other weights",
        .can_skip = !find_non_finite_state(step_)};
  }
  if (!result.update_is_finite) {
    return StepProblem{
        .what =
            fmt::format("the update of step {} (gradient norm {}) {}; it was not saved",
                        state_.step + 1, result.gradient_norm, overflow_of(step_, learning_rate)),
        .advice = "Lower base_learning_rate, or set max_grad_norm"};
  }
  return std::nullopt;
}

// Before weights are scored or saved: a checkpoint of them may take the place of the last good one.
bool Training::have_finite_gradients() {
  if (!probe_ || probed_step_ == state_.step) return true;
  step_.set_loss_scale(1.0);
  if (has_finite_gradients(step_, *probe_, state_.step)) {
    probed_step_ = state_.step;
    return true;
  }
  recover(options_.watch.on_non_finite,
          {.what = fmt::format("the weights after step {} are finite, but no longer give finite "
                               "losses and gradients; they were not saved. {}",
                               state_.step, origin_of(step_, alone(*probe_), state_.step)),
           .advice = "Lower base_learning_rate, or set max_grad_norm"},
          nullptr);
  return false;
}

// An overflow takes precedence over a spike: the update will find it in the gradients.
bool Training::passes_spike_watch(const StepResult& result, const data::StepBatch& batch) {
  const WatchPolicy policy = options_.watch.on_loss_spike;
  LossStatistics& losses = state_.watch.losses;
  const double loss = result.loss();
  if (policy == WatchPolicy::kIgnore || !std::isfinite(loss) || loss <= losses.limit()) return true;
  if (loss_scale_.skips_overflows() && find_non_finite_gradient(step_)) return true;
  const StepProblem problem{
      .what = fmt::format(
          "step {}: the loss {:.5g} is {:.1f} standard deviations above {:.5g}, the mean of the "
          "losses before it",
          state_.step + 1, loss, (loss - losses.mean) / std::sqrt(losses.variance), losses.mean),
      .advice = "Lower base_learning_rate, or set on_loss_spike warn",
      .can_skip = true};
  if (policy == WatchPolicy::kWarn) {
    notice_(problem.what);
    return true;
  }
  losses.take(loss);
  recover(policy, problem, &batch);
  return false;
}

void Training::watch_high_loss(double loss) {
  const WatchPolicy policy = options_.watch.on_high_loss;
  const int64_t steps = state_.watch.high_losses;
  if (policy == WatchPolicy::kIgnore || steps < kHighLossSteps) return;
  const StepProblem problem{
      .what = fmt::format("step {}: the loss {:.5g} is worse than an untrained model's, {:.3g}, "
                          "and has been since step {}",
                          state_.step, loss, *untrained_loss_, state_.step - steps + 1),
      .advice = "Lower base_learning_rate, or set max_grad_norm"};
  if (policy == WatchPolicy::kStop) recover(policy, problem, nullptr);
  if (steps == kHighLossSteps) notice_(fmt::format("{}. {}", problem.what, problem.advice));
}

std::optional<std::string> Training::high_loss_at_end() const {
  const int64_t steps = state_.watch.high_losses;
  const bool is_short = steps < kHighLossSteps && 2 * steps < state_.step;
  if (options_.watch.on_high_loss == WatchPolicy::kIgnore || steps == 0 || is_short) {
    return std::nullopt;
  }
  return fmt::format(
      "the loss of the last {} was worse than an untrained model's, {:.3g}: the run has diverged, "
      "and its model is of no use. Lower base_learning_rate, or set max_grad_norm",
      steps == 1 ? "step" : fmt::format("{} steps", steps), *untrained_loss_);
}

void Training::recover(WatchPolicy policy, const StepProblem& problem,
                       const data::StepBatch* batch) {
  WatchState& watch = state_.watch;
  std::string reason;
  if (policy == WatchPolicy::kSkip) {
    if (problem.can_skip && watch.skips < kMostSkips) {
      ++watch.skips;
      skip(*batch);
      notice_(problem.what + ". The step is skipped");
      return;
    }
    reason = problem.can_skip
                 ? fmt::format("{} steps in a row have already been skipped. ", kMostSkips)
                 : "Skipping the step would not help. ";
  }
  if (policy == WatchPolicy::kRollBack) {
    const FoundCheckpoint newest = newest_checkpoint();
    if (watch.rolled_back_to != newest.step || watch.roll_backs < kMostRollBacks) {
      roll_back(newest, batch);
      notice_(fmt::format("{}. The run goes back to {} and continues with other data", problem.what,
                          newest.path.string()));
      return;
    }
    reason = fmt::format("The run has already gone back {} times to step {}. ", kMostRollBacks,
                         newest.step);
  }
  throw DivergenceError(
      fmt::format("{}. {}{}. {}", problem.what, reason, last_saved(), problem.advice));
}

// The newest checkpoint that the first rank has saved; all ranks call this together.
FoundCheckpoint Training::newest_checkpoint() {
  finish_saving();
  std::string newest;
  if (is_first_rank()) newest = find_checkpoint(store_.folder()).path.string();
  return find_checkpoint(step_.ranks().all_gather(newest).front());
}

// The step's data are not used again, or it might go wrong for ever.
void Training::skip(const data::StepBatch& batch) {
  step_.clear_gradients();
  count(batch);
  ++state_.skipped_steps;
}

// The data go on after those of the bad step, `batch`.
void Training::roll_back(const FoundCheckpoint& checkpoint, const data::StepBatch* batch) {
  const TrainingState before = state_;
  const OpenCheckpoint open(checkpoint.path);
  state_ = open.state;
  load(open);
  drop_other_scores();
  if (!before.best_metric) state_.best_metric.reset();  // its checkpoint is gone (adopt_best)
  state_.samples = before.samples;
  state_.tokens = before.tokens;
  state_.epoch = before.epoch;
  state_.skipped_steps = before.batches() - state_.step;
  const bool is_again = before.watch.rolled_back_to == state_.step;
  state_.watch.roll_backs = is_again ? before.watch.roll_backs + 1 : 1;
  state_.watch.rolled_back_to = state_.step;
  batch != nullptr ? skip(*batch) : step_.clear_gradients();
  last_saved_step_ = state_.step;
  probe_.reset();
  probed_step_ = -1;
  for (MetricsSink* sink : sinks_) sink->forget_after(state_.step);
}

}  // namespace cloze::train
