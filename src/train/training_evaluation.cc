// Training's evaluations: when, of what, and whether their target is reached.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/seconds.h"
#include "base/time_text.h"
#include "platform/phase.h"
#include "train/training.h"

namespace cloze::train {
namespace {

std::string described(const EvaluationMetrics& metrics, int64_t samples) {
  std::string text = fmt::format("after step {} ({} sequences) {} held-out samples have",
                                 metrics.step, metrics.samples, samples);
  const char* separator = "";
  for (const LossValue& loss : metrics.losses) {
    text += fmt::format("{} {}_loss {:.4f}", separator, loss.name, loss.loss);
    if (loss.accuracy) text += fmt::format(", {}_accuracy {:.4f}", loss.name, *loss.accuracy);
    separator = ",";
  }
  return text + "; " + time_text(metrics.seconds);
}

}  // namespace

// Scores of other data, and those of a run that evaluates nothing from here on, no longer decide
// which weights are the best. Returns whether there were such scores.
bool Training::drop_other_scores() {
  if (!evaluates() && state_.step >= options_.num_steps) return false;  // nothing will be trained
  const std::string there = std::exchange(state_.evaluated_on, options_.evaluated_on);
  const bool is_known = !there.empty();
  if (evaluates() && (!is_known || there == state_.evaluated_on)) return false;
  const bool had_scores = state_.best_metric.has_value() || state_.evaluated_step > 0;
  if (state_.best_metric) {
    notice_(fmt::format("the score {:.4f} of step {} no longer counts: {}", *state_.best_metric,
                        state_.best_step,
                        evaluates() ? "it is of other data, or scored in another way"
                                    : "from here on nothing is evaluated"));
  }
  state_.best_metric.reset();
  state_.best_step = state_.evaluated_step = 0;
  return had_scores;
}

bool Training::is_evaluation_due() const {
  return evaluates() && (state_.step == options_.num_steps ||
                         std::ranges::binary_search(options_.evaluation_steps, state_.step));
}

std::optional<EvaluationMetrics> Training::score() {
  using Clock = std::chrono::steady_clock;
  platform::enter_phase("evaluating");
  const Clock::time_point start = Clock::now();
  EvaluationMetrics metrics{.step = state_.step, .epoch = state_.epoch, .samples = state_.samples};
  if (evaluation_) {
    metrics.losses = evaluation_->evaluate(step_);
    metrics.score = metrics.losses.front().accuracy.value_or(0.0);
  } else {
    const std::optional<double> score = options_.evaluate(step_.session(), state_.step);
    if (!score) return std::nullopt;
    metrics.score = *score;
  }
  metrics.seconds = seconds_since(start);
  return metrics;
}

void Training::evaluate() {
  if (!have_finite_gradients()) return;
  const std::optional<EvaluationMetrics> metrics = score();
  if (!metrics) return;
  if (evaluation_) notice_(described(*metrics, evaluation_->num_samples()));
  for (MetricsSink* sink : sinks_) sink->write_evaluation(*metrics);
  state_.evaluated_step = state_.step;
  last_saved_step_ = -1;  // a checkpoint of this step, of a run that was stopped, lacks the score
  const double score = metrics->score;
  if (!std::isfinite(score)) {
    notice_(
        fmt::format("the score at step {} is {}, which cannot be compared", state_.step, score));
    return;
  }
  if (state_.best_metric && score <= *state_.best_metric) return;
  state_.best_metric = score;
  state_.best_step = state_.step;
  save();
}

bool Training::has_reached_target() const {
  return options_.target && state_.best_metric && *state_.best_metric >= *options_.target;
}

TrainingOutcome Training::outcome() const {
  if (has_reached_target()) return TrainingOutcome::kFinished;
  const bool lacks_score = evaluates() && state_.evaluated_step < state_.step;
  if (state_.step < options_.num_steps || lacks_score) return TrainingOutcome::kStoppedBySignal;
  return options_.target ? TrainingOutcome::kMissedTarget : TrainingOutcome::kFinished;
}

}  // namespace cloze::train
