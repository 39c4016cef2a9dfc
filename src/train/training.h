// The training loop: batches in, steps, metrics and checkpoints out.
//
// A run is a function of its options and its data: if it stops after any step and resumes from the
// checkpoint, it produces the same bytes. On a signal to stop (platform/signals.h) the run finishes
// the current micro-batch (several ranks: the current step) and saves a checkpoint of the last
// complete step.
//
// A step goes wrong when a loss, a gradient or a result of the update is not finite, or when the
// loss spikes; watch/step_watch.h says what the run does then. A step that is not finite is never
// saved, and older checkpoints stay. Weights are saved only after they gave a finite loss and
// finite gradients for a micro-batch. An overflow (watch/loss_scale.h) is none of these: the step
// is skipped, until the loss scale requires the run to stop.
//
// Errors: UserError when the folder holds another run, or the checkpoint does not fit; DataError
// for damaged checkpoints and for start values that are not finite; DivergenceError when a step
// went wrong and the run has to stop, which says where that began and what to do. Saving goes on
// beside the steps (saving/background_save.h); EnvironmentError after the step in which it failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/signals.h"
#include "train/evaluator.h"
#include "train/recovery.h"
#include "train/run.h"
#include "train/saver.h"
#include "train/step_metrics.h"
#include "train/training_options.h"

namespace cloze::train {

// The run of one or several ranks (TrainingStepOptions::ranks): the first alone writes checkpoints,
// and all stop when one is asked to.
class Training {
 public:
  Training(TrainingOptions options, Notice notice);

  // Steps done when the run starts: 0, or those of the restored checkpoint.
  int64_t first_step() const { return run_.state.step; }
  TrainingOutcome run(const std::vector<MetricsSink*>& sinks);
  engine::Session& session() { return run_.step.session(); }
  const TrainingStep& step() const { return run_.step; }
  const TrainingState& state() const { return run_.state; }
  // The signal that asked this rank or another to stop; 0: none did.
  int stop_signal() const { return stop_signal_ != 0 ? stop_signal_ : platform::stop_signal(); }
  // Recovery::high_loss_at_end().
  std::optional<std::string> high_loss_at_end() const { return recovery_.high_loss_at_end(); }
  // The memory that evaluation_set takes.
  int64_t evaluation_bytes() const { return evaluator_.bytes(); }

 private:
  void train();
  // The number of steps until the host has to look at a result.
  int64_t steps_ahead() const;
  StepAhead next_step(const data::StepBatch& batch, int64_t ahead) const;
  // Returns how many of the steps are part of the run now: none when one was skipped or the run
  // went back; the first ones when a signal to stop came.
  size_t train_steps(const std::vector<data::StepBatch>& batches, double waited_seconds);
  // False when the step is not part of the run.
  bool take(const StepAhead& step, const StepResult& result, StepSeconds seconds,
            const std::vector<TensorNorm>& norms);
  void tell(StepMetrics metrics);
  void evaluate();
  void save();
  void rewind(const FoundCheckpoint& checkpoint);
  void share_stop_request();
  bool is_over() const;

  Run run_;
  Evaluator evaluator_;
  Saver saver_;
  Recovery recovery_;
  bool is_asked_to_stop_ = false;  // this rank or another
  int stop_signal_ = 0;            // that the first rank with one got
};

}  // namespace cloze::train
