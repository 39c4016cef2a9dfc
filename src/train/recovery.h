// Finds the steps that go wrong (watch/step_watch.h has the policies), skips them, goes back or
// ends the run. A step that overflows is none of these: the loss scale says what becomes of it
// (watch/loss_scale.h).
//
// Errors: DivergenceError when a step went wrong and the run has to stop.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "train/divergence.h"
#include "train/run.h"
#include "train/saver.h"
#include "train/watch/loss_scale.h"
#include "train/watch/step_watch.h"

namespace cloze::train {

class Recovery {
 public:
  // Puts the run back to a checkpoint: weights, state and sinks.
  using Rewind = std::function<void(const FoundCheckpoint& checkpoint)>;
  // Run and saver outlive it.
  Recovery(Run& run, Saver& saver, Rewind rewind);

  // The loss scale of a step, counted from 0, that the run is at or will come to.
  double loss_scale(int64_t step) const { return loss_scale_.at(step, run_.state.loss_scale); }
  // Says whether a spike is more than told: then losses are judged before the update.
  bool acts_on_spikes() const { return run_.options.watch.acts_on_spikes(); }
  // Judges the loss. False when the step is abandoned.
  bool passes_spike_watch(const StepResult& result, const data::StepBatch& batch);
  // Judges the result after the update. False when the step is abandoned.
  bool passes_update(const StepResult& result, const StepAhead& step);
  // Takes note of a step that is part of the run.
  void take_good_step(double loss);
  // Looks for a loss that has been high for too long, after the step was counted and told.
  void watch_high_loss(double loss);
  // Judges the steps that the device was given together, before they are taken: if later ones have
  // gone on after a bad one, it may no longer be known where that went wrong.
  void require_still_known(std::span<const StepResult> results);

  // Tries the weights before they are scored or saved, as a checkpoint of them may take the place
  // of the last good one: they have to give a finite loss and finite gradients for a micro-batch of
  // the last step, the probe. False when the run had to go back.
  bool have_finite_gradients();
  void set_probe(data::MicroBatch micro_batch) { probe_ = std::move(micro_batch); }
  // A sentence for the user about a run whose loss has been high up to its end, for kHighLossSteps
  // or for half of its steps; or nothing.
  std::optional<std::string> high_loss_at_end() const;

 private:
  bool is_overflow(const StepResult& result);
  void take_overflow(const StepAhead& step);
  std::optional<StepProblem> find_problem(const StepResult& result, const StepAhead& step);
  // `batch`: of the step that is dropped; null after a step that was counted.
  void recover(WatchPolicy policy, const StepProblem& problem, const data::StepBatch* batch);
  void roll_back(const FoundCheckpoint& checkpoint, const data::StepBatch* batch);

  Run& run_;
  Saver& saver_;
  Rewind rewind_;
  LossScale loss_scale_;
  std::optional<double> untrained_loss_;
  std::optional<data::MicroBatch> probe_;  // of the last step
  int64_t probed_step_ = -1;               // after which the weights gave finite gradients for it
};

}  // namespace cloze::train
