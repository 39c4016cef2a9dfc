#include "train/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/seconds.h"
#include "base/time_text.h"
#include "platform/phase.h"

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

Evaluator::Evaluator(Run& run) : run_(run) {
  const auto& samples = run.options.evaluation_set;
  if (samples) evaluation_.emplace(run.options.step, *samples);
}

bool Evaluator::is_due() const {
  return evaluates() &&
         (run_.state.step == run_.options.num_steps ||
          std::ranges::binary_search(run_.options.evaluation_steps, run_.state.step));
}

std::optional<int64_t> Evaluator::next_step() const {
  const std::vector<int64_t>& steps = run_.options.evaluation_steps;
  const auto next = std::ranges::upper_bound(steps, run_.state.step);
  return evaluates() && next != steps.end() ? std::optional(*next) : std::nullopt;
}

std::optional<EvaluationMetrics> Evaluator::score() {
  using Clock = std::chrono::steady_clock;
  platform::enter_phase("evaluating");
  const Clock::time_point start = Clock::now();
  const TrainingState& state = run_.state;
  EvaluationMetrics metrics{.step = state.step, .epoch = state.epoch, .samples = state.samples};
  if (evaluation_) {
    metrics.losses = evaluation_->evaluate(run_.step);
    metrics.score = metrics.losses.front().accuracy.value_or(0.0);
  } else {
    const std::optional<double> score = run_.options.evaluate(run_.step.session(), state.step);
    if (!score) return std::nullopt;
    metrics.score = *score;
  }
  metrics.seconds = seconds_since(start);
  return metrics;
}

Evaluator::Score Evaluator::evaluate() {
  const std::optional<EvaluationMetrics> metrics = score();
  if (!metrics) return Score::kNone;
  if (evaluation_) run_.notice(described(*metrics, evaluation_->num_samples()));
  for (MetricsSink* sink : run_.sinks) sink->write_evaluation(*metrics);
  TrainingState& state = run_.state;
  state.evaluated_step = state.step;
  const double score = metrics->score;
  state.early_stopping.take(score, run_.options.early_stopping);
  if (!std::isfinite(score)) {
    run_.notice(
        fmt::format("the score at step {} is {}, which cannot be compared", state.step, score));
    return Score::kNotBest;
  }
  if (state.best_metric && score <= *state.best_metric) return Score::kNotBest;
  state.best_metric = score;
  state.best_step = state.step;
  return Score::kBest;
}

bool Evaluator::drop_other_scores() {
  TrainingState& state = run_.state;
  if (!evaluates() && state.step >= run_.options.num_steps) return false;  // nothing is trained
  const std::string there = std::exchange(state.evaluated_on, run_.options.evaluated_on);
  const bool is_known = !there.empty();
  if (evaluates() && (!is_known || there == state.evaluated_on)) return false;
  const bool had_scores = state.best_metric.has_value() || state.evaluated_step > 0;
  if (state.best_metric) {
    run_.notice(fmt::format("the score {:.4f} of step {} no longer counts: {}", *state.best_metric,
                            state.best_step,
                            evaluates() ? "it is of other data, or scored in another way"
                                        : "from here on nothing is evaluated"));
  }
  state.forget_best();
  state.best_step = state.evaluated_step = 0;
  return had_scores;
}

bool Evaluator::has_reached_target() const {
  const std::optional<double>& best = run_.state.best_metric;
  return run_.options.target && best && *best >= *run_.options.target;
}

bool Evaluator::has_stopped_early() const {
  return evaluates() && run_.state.early_stopping.ends_run(run_.options.early_stopping);
}

TrainingOutcome Evaluator::outcome() const {
  if (has_reached_target()) return TrainingOutcome::kFinished;
  const bool has_all_steps = run_.state.step >= run_.options.num_steps;
  const bool lacks_score = evaluates() && run_.state.evaluated_step < run_.state.step;
  if (lacks_score || !(has_all_steps || has_stopped_early())) {
    return TrainingOutcome::kStoppedBySignal;
  }
  if (!has_all_steps) return TrainingOutcome::kStoppedEarly;
  return run_.options.target ? TrainingOutcome::kMissedTarget : TrainingOutcome::kFinished;
}

}  // namespace cloze::train
