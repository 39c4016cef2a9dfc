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

size_t Training::train_steps(const std::vector<data::StepBatch>& batches, double waited_seconds) {
  const Clock::time_point start = Clock::now();
  std::vector<StepAhead> steps;
  std::vector<TensorNorm> norms;
  try {
    for (const data::StepBatch& batch : batches) {
      const StepAhead step = next_step(batch, std::ssize(steps));
      run_.step.begin(step);
      if (recovery_.acts_on_spikes() && !recovery_.passes_spike_watch(run_.step.losses(), batch)) {
        return 0;
      }
      if (is_due(step.step + 1, run_.options.steps_per_norms)) {  // it goes alone
        norms = norms_of_all(run_.step, step.loss_scale);
      }
      run_.step.finish();
      steps.push_back(step);
    }
  } catch (const platform::Interruption&) {  // the step is done again after resuming
    if (steps.empty()) throw;
  }
  const std::vector<StepResult> results = run_.step.take_results();
  const auto count = static_cast<double>(results.size());
  const StepSeconds seconds{.all = (seconds_since(start) + waited_seconds) / count,
                            .waited = waited_seconds / count};
  recovery_.require_still_known(results);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!take(steps[i], results[i], seconds, norms)) return 0;
  }
  return steps.size();
}

bool Training::take(const StepAhead& step, const StepResult& result, StepSeconds seconds,
                    const std::vector<TensorNorm>& norms) {
  if (!recovery_.passes_spike_watch(result, *step.batch)) return false;
  if (!recovery_.passes_update(result, step)) return false;
  recovery_.take_good_step(result.loss());
  run_.state.step = step.step + 1;
  run_.count(*step.batch);
  StepMetrics metrics = step_metrics(run_, step, result, seconds);
  metrics.norms = norms;
  tell(std::move(metrics));
  return true;
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
         evaluator_.has_stopped_early() || is_asked_to_stop_;
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
    const size_t trained = train_steps(batches, source.waited_seconds() - waited_before);
    if (trained == 0) continue;
    recovery_.set_probe(std::move(batches[trained - 1].micro_batches.front()));
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
