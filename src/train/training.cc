#include "train/training.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/seconds.h"
#include "platform/phase.h"
#include "train/batch_source.h"
#include "train/run_start.h"

namespace cloze::train {
namespace {

using Clock = std::chrono::steady_clock;

bool is_due(int64_t step, int64_t period) { return period > 0 && step % period == 0; }

}  // namespace

Training::Training(TrainingOptions options, Notice notice)
    : run_(std::move(options), std::move(notice)),
      evaluator_(run_),
      saver_(run_),
      recovery_(run_, saver_, [this](const FoundCheckpoint& there) { rewind(there); }) {
  start(run_, saver_, evaluator_);
}

StepAhead Training::next_step(const data::StepBatch& batch, int64_t ahead) const {
  const int64_t step = run_.state.step + ahead;
  return {.batch = &batch,
          .step = step,
          .learning_rate = optim::learning_rate(run_.options.schedule, step),
          .loss_scale = recovery_.loss_scale(step)};
}

std::optional<StepMetrics> Training::train_one_step(const data::StepBatch& batch,
                                                    double waited_seconds) {
  const StepAhead step = next_step(batch, 0);
  run_.step.set_loss_scale(step.loss_scale);
  const Clock::time_point start = Clock::now();
  StepResult result = run_.step.accumulate(batch, step.step);
  if (!recovery_.passes_spike_watch(result, batch)) return std::nullopt;
  std::vector<TensorNorm> norms;
  if (is_due(step.step + 1, run_.options.steps_per_norms)) {
    norms = norms_of_all(run_.step, step.loss_scale);
  }
  run_.step.finish(result, step.step, step.learning_rate);
  if (!recovery_.passes_update(result, step)) return std::nullopt;
  const double seconds = seconds_since(start) + waited_seconds;
  StepMetrics metrics = count(step, result, {.all = seconds, .waited = waited_seconds});
  metrics.norms = std::move(norms);
  return metrics;
}

StepMetrics Training::count(const StepAhead& step, const StepResult& result, StepSeconds seconds) {
  recovery_.take_good_step(result.loss());
  run_.state.step = step.step + 1;
  run_.count(*step.batch);
  return step_metrics(run_, step, result, seconds);
}

int64_t Training::steps_ahead() const {
  const TrainingOptions& options = run_.options;
  if (options.why_step_by_step()) return 1;
  const int64_t step = run_.state.step;
  int64_t end = std::min(step + options.device_iterations, options.num_steps);
  const auto visit_every = [&](int64_t period, int64_t before) {
    if (period > 0) end = std::min(end, (step / period + 1) * period - before);
  };
  visit_every(options.steps_per_checkpoint, 0);
  visit_every(options.steps_per_norms, 1);  // a step with norms goes alone
  end = std::min(end, evaluator_.next_step().value_or(end));
  return std::max<int64_t>(end - step, 1);
}

void Training::train_ahead(std::vector<data::StepBatch>& batches, double waited_seconds) {
  std::vector<StepAhead> steps;
  for (const data::StepBatch& batch : batches) {
    steps.push_back(next_step(batch, std::ssize(steps)));
  }
  const Clock::time_point start = Clock::now();
  const std::vector<StepResult> results = run_.step.run_ahead(steps);
  steps.resize(results.size());
  batches.resize(results.size());
  const auto count_of_steps = static_cast<double>(steps.size());
  const StepSeconds seconds{.all = (seconds_since(start) + waited_seconds) / count_of_steps,
                            .waited = waited_seconds / count_of_steps};
  recovery_.require_still_known(results);
  for (size_t i = 0; i < steps.size(); ++i) {
    recovery_.passes_update(results[i], steps[i]);
    recovery_.passes_spike_watch(results[i], *steps[i].batch);  // prints at most a line
    tell(count(steps[i], results[i], seconds));
  }
}

void Training::tell(StepMetrics metrics) {
  const TrainingOptions& options = run_.options;
  TrainingState& state = run_.state;
  if (options.after_step) options.after_step(metrics);
  const double loss = metrics.loss;
  const bool is_last = state.step == options.num_steps;
  if (is_due(state.step, options.steps_per_log) || is_last || !metrics.norms.empty()) {
    for (MetricsSink* sink : run_.sinks) sink->write(metrics);
    metrics.norms.clear();
    add_to_history(run_.history, metrics, state.logged_steps++);
  }
  recovery_.watch_high_loss(loss);
}

TrainingOutcome Training::run(const std::vector<MetricsSink*>& sinks) {
  run_.sinks = sinks;
  try {
    train();
  } catch (const platform::Interruption&) {  // in a step: it is done again after resuming
    is_asked_to_stop_ = true;
    run_.step.clear_gradients();
  } catch (const std::exception&) {
    saver_.finish();
    throw;
  }
  saver_.finish();
  save();
  return evaluator_.outcome();
}

bool Training::is_over() const {
  return run_.state.step >= run_.options.num_steps || evaluator_.has_reached_target() ||
         is_asked_to_stop_;
}

// All ranks leave after the same step.
void Training::share_stop_request() {
  platform::enter_wait("agreeing to go on");
  float requests[] = {platform::stop_requested() ? 1.0f : 0.0f};
  comm::Communicator& ranks = *run_.options.step.ranks;
  ranks.all_reduce(requests);
  is_asked_to_stop_ = requests[0] > 0.0f;
  if (!is_asked_to_stop_) return;
  for (const int theirs : ranks.all_gather(platform::stop_signal())) {
    if (stop_signal_ == 0) stop_signal_ = theirs;
  }
}

void Training::train() {
  BatchSource source(run_.options, run_.state.batches());
  if (run_.options.watch.rolls_back()) save();  // there has to be something to go back to
  if (evaluator_.is_behind()) evaluate();
  for (share_stop_request(); !is_over(); share_stop_request()) {
    saver_.announce_saved();
    platform::enter_step(run_.state.step + 1);
    platform::enter_phase("waiting for data");
    const double waited_before = source.waited_seconds();
    std::vector<data::StepBatch> batches = source.next(steps_ahead());
    const double waited = source.waited_seconds() - waited_before;
    if (batches.size() > 1) {
      train_ahead(batches, waited);
    } else {
      std::optional<StepMetrics> metrics = train_one_step(batches.front(), waited);
      if (!metrics) continue;
      tell(std::move(*metrics));
    }
    recovery_.set_probe(std::move(batches.back().micro_batches.front()));
    if (evaluator_.is_due()) evaluate();
    const bool is_last = run_.state.step == run_.options.num_steps;
    if (is_due(run_.state.step, run_.options.steps_per_checkpoint) || is_last) save();
  }
}

void Training::evaluate() {
  if (!recovery_.have_finite_gradients()) return;
  const Evaluator::Score score = evaluator_.evaluate();
  if (score == Evaluator::Score::kNone) return;
  // A checkpoint of this step, of a run that was stopped, lacks the score.
  saver_.take_as_unsaved();
  if (score == Evaluator::Score::kBest) save();
}

void Training::save() {
  if (saver_.is_saved() || !recovery_.have_finite_gradients()) return;
  saver_.save(is_over());
}

void Training::rewind(const FoundCheckpoint& checkpoint) {
  const OpenCheckpoint open(checkpoint.path);
  run_.state = open.state;
  load_checkpoint(run_, open);
  evaluator_.drop_other_scores();
  saver_.take_as_saved();
  for (MetricsSink* sink : run_.sinks) sink->forget_after(run_.state.step);
}

}  // namespace cloze::train
