#include "train/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/bert_heads.h"

namespace cloze::train {

Recovery::Recovery(Run& run, Saver& saver, Rewind rewind)
    : run_(run),
      saver_(saver),
      rewind_(std::move(rewind)),
      loss_scale_(run.options.loss_scale, run.options.step.compute_dtype),
      untrained_loss_(models::untrained_loss(run.options.step.model, run.options.step.head)) {}

// Weights and moments that are not finite themselves are no overflow: no scale would help.
bool Recovery::is_overflow(const StepResult& result) {
  return !result.is_finite() && loss_scale_.skips_overflows() && !find_non_finite_state(run_.step);
}

void Recovery::take_overflow(const StepAhead& step) {
  TrainingState& state = run_.state;
  const int64_t number = step.step + 1;
  if (!loss_scale_.take_overflow(state.loss_scale)) {
    const std::string floor = fmt::format(", and half of it would be below min_loss_scale {}",
                                          run_.options.loss_scale.minimum);
    throw DivergenceError(fmt::format(
        "step {} overflows with loss scale {} (overflows in a row: {}){}. {}. {}. Lower "
        "base_learning_rate, compute in bf16 or f32 (precision), or lower {}",
        number, step.loss_scale, state.loss_scale.overflows, loss_scale_.is_dynamic() ? floor : "",
        origin_of(run_.step, *step.batch, step.step), saver_.newest_text(),
        loss_scale_.is_dynamic() ? "min_loss_scale" : "the loss scale"));
  }
  run_.skip(*step.batch);
  run_.notice(fmt::format("step {} overflowed with loss scale {} and is skipped; the next has {}",
                          number, step.loss_scale, loss_scale(state.step)));
}

std::optional<StepProblem> Recovery::find_problem(const StepResult& result, const StepAhead& step) {
  if (!result.is_finite()) {
    return StepProblem{
        .what = fmt::format("{}; nothing was updated. {}", not_finite_step(step.step + 1, result),
                            origin_of(run_.step, *step.batch, step.step)),
        .advice = "Lower base_learning_rate, or start from other weights",
        .can_skip = !find_non_finite_state(run_.step)};
  }
  if (!result.update_is_finite) {
    return StepProblem{
        .what = fmt::format("the update of step {} (gradient norm {}) {}; it was not saved",
                            step.step + 1, result.gradient_norm,
                            overflow_of(run_.step, step.learning_rate)),
        .advice = "Lower base_learning_rate, or set max_grad_norm"};
  }
  return std::nullopt;
}

bool Recovery::passes_update(const StepResult& result, const StepAhead& step) {
  if (is_overflow(result)) {
    take_overflow(step);
    return false;
  }
  const std::optional<StepProblem> problem = find_problem(result, step);
  if (problem) recover(run_.options.watch.on_non_finite, *problem, step.batch);
  return !problem;
}

void Recovery::take_good_step(double loss) {
  loss_scale_.take_good_step(run_.state.loss_scale);
  WatchState& watch = run_.state.watch;
  watch.losses.take(loss);
  const bool is_high = untrained_loss_ && is_high_loss(loss, *untrained_loss_);
  watch.high_losses = is_high ? watch.high_losses + 1 : 0;
  watch.skips = 0;
}

void Recovery::require_still_known(std::span<const StepResult> results) {
  const auto is_good = [](const StepResult& result) {
    return result.is_finite() && result.update_is_finite;
  };
  const auto bad = std::ranges::find_if_not(results, is_good);
  if (bad == results.end() || bad + 1 == results.end()) return;
  if (bad->update_is_finite && std::none_of(bad, results.end(), is_good)) return;
  const int64_t step = run_.state.step + 1 + (bad - results.begin());
  const std::string what =
      bad->is_finite()
          ? fmt::format("the update of step {} produced numbers that are not finite", step)
          : not_finite_step(step, *bad);
  throw DivergenceError(fmt::format(
      "{}. {}. Set device_iterations 1 to see where it begins, or lower base_learning_rate", what,
      saver_.newest_text()));
}

bool Recovery::have_finite_gradients() {
  if (!probe_ || probed_step_ == run_.state.step) return true;
  run_.step.set_loss_scale(1.0);
  if (has_finite_gradients(run_.step, *probe_, run_.state.step)) {
    probed_step_ = run_.state.step;
    return true;
  }
  recover(
      run_.options.watch.on_non_finite,
      {.what = fmt::format("the weights after step {} are finite, but no longer give finite "
                           "losses and gradients; they were not saved. {}",
                           run_.state.step, origin_of(run_.step, alone(*probe_), run_.state.step)),
       .advice = "Lower base_learning_rate, or set max_grad_norm"},
      nullptr);
  return false;
}

// An overflow takes precedence over a spike: the update will find it in the gradients.
bool Recovery::passes_spike_watch(const StepResult& result, const data::StepBatch& batch) {
  const WatchPolicy policy = run_.options.watch.on_loss_spike;
  LossStatistics& losses = run_.state.watch.losses;
  const double loss = result.loss();
  if (policy == WatchPolicy::kIgnore || !std::isfinite(loss) || loss <= losses.limit()) return true;
  if (loss_scale_.skips_overflows() && find_non_finite_gradient(run_.step)) return true;
  const StepProblem problem{
      .what = fmt::format(
          "step {}: the loss {:.5g} is {:.1f} standard deviations above {:.5g}, the mean of the "
          "losses before it",
          run_.state.step + 1, loss, (loss - losses.mean) / std::sqrt(losses.variance),
          losses.mean),
      .advice = "Lower base_learning_rate, or set on_loss_spike warn",
      .can_skip = true};
  if (policy == WatchPolicy::kWarn) {
    run_.notice(problem.what);
    return true;
  }
  losses.take(loss);
  recover(policy, problem, &batch);
  return false;
}

void Recovery::watch_high_loss(double loss) {
  const WatchPolicy policy = run_.options.watch.on_high_loss;
  const int64_t steps = run_.state.watch.high_losses;
  if (policy == WatchPolicy::kIgnore || steps < kHighLossSteps) return;
  const StepProblem problem{
      .what = fmt::format("step {}: the loss {:.5g} is worse than an untrained model's, {:.3g}, "
                          "and has been since step {}",
                          run_.state.step, loss, *untrained_loss_, run_.state.step - steps + 1),
      .advice = "Lower base_learning_rate, or set max_grad_norm"};
  if (policy == WatchPolicy::kStop) recover(policy, problem, nullptr);
  if (steps == kHighLossSteps) run_.notice(fmt::format("{}. {}", problem.what, problem.advice));
}

std::optional<std::string> Recovery::high_loss_at_end() const {
  const int64_t steps = run_.state.watch.high_losses;
  const bool is_short = steps < kHighLossSteps && 2 * steps < run_.state.step;
  if (run_.options.watch.on_high_loss == WatchPolicy::kIgnore || steps == 0 || is_short) {
    return std::nullopt;
  }
  return fmt::format(
      "the loss of the last {} was worse than an untrained model's, {:.3g}: the run has diverged, "
      "and its model is of no use. Lower base_learning_rate, or set max_grad_norm",
      steps == 1 ? "step" : fmt::format("{} steps", steps), *untrained_loss_);
}

void Recovery::recover(WatchPolicy policy, const StepProblem& problem,
                       const data::StepBatch* batch) {
  WatchState& watch = run_.state.watch;
  std::string reason;
  if (policy == WatchPolicy::kSkip) {
    if (problem.can_skip && watch.skips < kMostSkips) {
      ++watch.skips;
      run_.skip(*batch);
      run_.notice(problem.what + ". The step is skipped");
      return;
    }
    reason = problem.can_skip
                 ? fmt::format("{} steps in a row have already been skipped. ", kMostSkips)
                 : "Skipping the step would not help. ";
  }
  if (policy == WatchPolicy::kRollBack) {
    const FoundCheckpoint newest = saver_.newest();
    if (watch.rolled_back_to != newest.step || watch.roll_backs < kMostRollBacks) {
      roll_back(newest, batch);
      run_.notice(fmt::format("{}. The run goes back to {} and continues with other data",
                              problem.what, newest.path.string()));
      return;
    }
    reason = fmt::format("The run has already gone back {} times to step {}. ", kMostRollBacks,
                         newest.step);
  }
  throw DivergenceError(
      fmt::format("{}. {}{}. {}", problem.what, reason, saver_.newest_text(), problem.advice));
}

// The data go on after those of the bad step, `batch`.
void Recovery::roll_back(const FoundCheckpoint& checkpoint, const data::StepBatch* batch) {
  const TrainingState before = run_.state;
  rewind_(checkpoint);
  TrainingState& state = run_.state;
  if (!before.best_metric) state.forget_best();  // its checkpoint is gone (adopt_best)
  state.samples = before.samples;
  state.tokens = before.tokens;
  state.epoch = before.epoch;
  state.skipped_steps = before.batches() - state.step;
  const bool is_again = before.watch.rolled_back_to == state.step;
  state.watch.roll_backs = is_again ? before.watch.roll_backs + 1 : 1;
  state.watch.rolled_back_to = state.step;
  if (batch != nullptr) run_.skip(*batch);
  probe_.reset();
  probed_step_ = -1;
}

}  // namespace cloze::train
