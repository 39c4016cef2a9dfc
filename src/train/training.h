// The training loop: batches in, steps, metrics and checkpoints out.
//
// A run is a function of its options and its data: if it stops after any step and resumes from the
// checkpoint, it produces the same bytes. On a signal to stop (platform/signals.h) the run finishes
// the current micro-batch (several ranks: the current step), or the steps that the device computes
// ahead, and saves a checkpoint of the last complete step.
//
// A step goes wrong when a loss, a gradient or a result of the update is not finite, or when the
// loss spikes; train/step_watch.h says what the run does then. A step that is not finite is never
// saved, and older checkpoints stay. Weights are saved only after they gave a finite loss and
// finite gradients for a micro-batch. An overflow (train/loss_scale.h) is none of these: the step
// is skipped, until the loss scale requires the run to stop.
//
// Errors: UserError when the folder holds another run, or the checkpoint does not fit; DataError
// for damaged checkpoints and for start values that are not finite; DivergenceError when a step
// went wrong and the run has to stop, which says where that began and what to do. Saving goes on
// beside the steps (saving/background_save.h); EnvironmentError after the step in which it failed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/stored_model.h"
#include "data/dataset.h"
#include "optim/schedule.h"
#include "platform/signals.h"
#include "text/tokenizer_options.h"
#include "train/divergence.h"
#include "train/evaluation.h"
#include "train/loss_scale.h"
#include "train/metrics/metrics.h"
#include "train/saving/background_save.h"
#include "train/saving/checkpoint.h"
#include "train/saving/model_folder.h"
#include "train/step_watch.h"
#include "train/training_step.h"

namespace cloze::train {

// What a run takes from init_checkpoint besides the weights: nothing, the optimiser's moments, or
// the moments and the number of updates; the run then continues from that number.
enum class InitOptimizer { kFresh, kMoments, kMomentsAndStep };

struct TrainingOptions {
  TrainingStepOptions step;
  std::shared_ptr<const data::Dataset> dataset;
  bool synthetic_data = false;    // all of the data set is one micro-batch: data/loader.h
  int64_t global_batch_size = 0;  // sequences in a step
  int64_t duplicate_factor = 1;   // copies of the text in the data; an epoch is one copy
  int64_t num_steps = 0;
  // Steps that the device computes without a visit of the host (TrainingStep::run_ahead), fewer
  // where a checkpoint, norms or an evaluation are due.
  int64_t device_iterations = 1;
  optim::Schedule schedule;
  LossScaleOptions loss_scale;
  WatchOptions watch;

  std::filesystem::path save_path = "checkpoints";  // folder of checkpoint-STEP
  std::filesystem::path init_checkpoint;            // start values
  InitOptimizer init_optimizer = InitOptimizer::kFresh;
  std::string fresh_prefix;  // tensors of init_checkpoint named so start afresh; empty: none
  std::filesystem::path restore_dir;            // resume from the newest checkpoint in it
  std::optional<FoundCheckpoint> restore_from;  // that, where it was found and checked before
  int64_t steps_per_checkpoint = 256;
  int64_t max_to_keep = 5;
  int64_t steps_per_log = 1;
  int64_t steps_per_norms = 0;  // between lines with the norms of every tensor; 0: never
  double product_flops = 0.0;   // a second, of the fastest matrix product measured; 0: not known
  std::function<void(const StepMetrics&)> after_step;  // every step, logged or not; may be empty

  // The task's metric with the weights as they are; more is better. Called after evaluation_steps
  // and after the last step. The checkpoint of the best is kept. Nothing when a signal to stop
  // ended the evaluation: the resumed run begins with it.
  std::function<std::optional<double>(engine::Session& session, int64_t step)> evaluate;
  // A name for what it scores, and how. Training itself names an evaluation_set.
  std::string evaluated_on;
  // Instead of evaluate: the metric is the accuracy of the first loss on these samples.
  std::shared_ptr<const data::Dataset> evaluation_set;
  std::vector<int64_t> evaluation_steps;  // ascending
  // The run ends at the first metric that is at least this.
  std::optional<double> target;

  std::vector<std::string> tokens;   // the vocabulary, written into checkpoints; may be empty
  text::TokenizerOptions tokenizer;  // of that vocabulary
  int64_t loader_threads = 1;
  int64_t loader_memory = 256;        // MiB that steps made ready may take
  std::vector<TextFile> extra_files;  // written into checkpoints as they are

  // Why the host must look at each step before the next one, whatever device_iterations says: the
  // step is eager, may be skipped or taken back, or is shared by ranks. Empty when it need not.
  std::optional<std::string_view> why_step_by_step() const;
};

// Whether a checkpoint is written from a copy in memory while the run goes on. A model or states
// that are divided over ranks, or in a file, are more than memory should hold twice.
bool saves_from_copy(const TrainingStepOptions& step);

// kMissedTarget: all steps are done, and no evaluation reached the target.
enum class TrainingOutcome { kFinished, kMissedTarget, kStoppedBySignal };

// Of several ranks (TrainingStepOptions::ranks) the first alone writes checkpoints, and all stop
// when one is asked to.
class Training {
 public:
  // Called with one line of text for the user: what was loaded, saved, skipped.
  using Notice = std::function<void(const std::string&)>;

  Training(TrainingOptions options, Notice notice);

  // Steps done when the run starts: 0, or those of the restored checkpoint.
  int64_t first_step() const { return state_.step; }
  TrainingOutcome run(const std::vector<MetricsSink*>& sinks);
  engine::Session& session() { return step_.session(); }
  const TrainingStep& step() const { return step_; }
  const TrainingState& state() const { return state_; }
  // The signal that asked this rank or another to stop; 0: none did.
  int stop_signal() const { return stop_signal_ != 0 ? stop_signal_ : platform::stop_signal(); }
  // Of a run whose loss has been high (train/step_watch.h) up to its end: for kHighLossSteps, or
  // for half of its steps. A sentence for the user, or nothing.
  std::optional<std::string> high_loss_at_end() const;
  // The memory that evaluation_set takes.
  int64_t evaluation_bytes() const { return evaluation_ ? evaluation_->bytes() : 0; }

 private:
  void start_fresh();
  void load_initial_parameters();
  void load_initial_moments(const checkpoints::StoredModel& file);
  void take_initial_step(const checkpoints::StoredModel& file);
  void restore();
  void load(const OpenCheckpoint& checkpoint);
  void require_same_run(const std::filesystem::path& checkpoint);
  bool is_in_own_folder(const std::filesystem::path& checkpoint) const;
  void require_newest(const std::filesystem::path& checkpoint) const;
  void take_folder(const std::filesystem::path& checkpoint);
  bool is_copy(int64_t step, const std::filesystem::path& checkpoint) const;
  void adopt_best(const std::filesystem::path& checkpoint);
  void require_finite_start(const std::filesystem::path& source);
  // Nothing when the step is not one of the run: it was skipped, or the run went back.
  std::optional<StepMetrics> train_one_step(const data::StepBatch& batch, double waited_seconds);
  std::vector<TensorNorm> shared_norms(double loss_scale);
  // How long a step took, on average of those that the device computed together.
  struct Seconds {
    double all = 0.0;
    double waited = 0.0;  // of them, for data
  };
  StepMetrics count_step(const StepAhead& done, const StepResult& result, Seconds seconds);
  // How many steps, until the host has to look at a result.
  int64_t steps_ahead() const;
  void train_ahead(std::span<const data::StepBatch> batches, double waited_seconds);
  void require_still_known(std::span<const StepResult> results);
  void take(StepMetrics metrics);
  void log(StepMetrics metrics);
  void count(const data::StepBatch& batch);
  bool is_overflow(const StepResult& result);
  void take_overflow(const data::StepBatch& batch, double scale);
  // Checks the loss before the update. False when the step is abandoned.
  bool passes_spike_watch(const StepResult& result, const data::StepBatch& batch);
  // After a step that was counted.
  void watch_high_loss(double loss);
  std::optional<StepProblem> find_problem(const StepResult& result, const data::StepBatch& batch,
                                          double learning_rate);
  // `batch`: of the step that is dropped; null after a step that was counted. DivergenceError when
  // the policy, or its limit, is to stop.
  void recover(WatchPolicy policy, const StepProblem& problem, const data::StepBatch* batch);
  void skip(const data::StepBatch& batch);
  void roll_back(const FoundCheckpoint& checkpoint, const data::StepBatch* batch);
  // False when the run had to go back.
  bool have_finite_gradients();
  std::string last_saved();
  FoundCheckpoint newest_checkpoint();
  void train();
  bool is_first_rank() const { return options_.step.ranks->rank() == 0; }
  void share_stop_request();
  bool is_over() const;
  bool evaluates() const { return options_.evaluate || evaluation_; }
  bool drop_other_scores();
  bool is_evaluation_due() const;
  void evaluate();
  std::optional<EvaluationMetrics> score();
  bool has_reached_target() const;
  TrainingOutcome outcome() const;
  void save();
  void save_together();
  CheckpointContent content_of_session();
  CheckpointContent content(std::vector<formats::TensorSource> model,
                            std::vector<formats::TensorSource> optimizer);
  void announce(const std::optional<std::filesystem::path>& saved);
  void finish_saving();

  TrainingOptions options_;
  Notice notice_;
  TrainingStep step_;
  std::optional<Evaluation> evaluation_;
  LossScale loss_scale_;
  std::optional<double> untrained_loss_;
  CheckpointStore store_;
  TrainingState state_;
  std::vector<StepMetrics> history_;  // for trainer_state.json
  int64_t last_saved_step_ = -1;
  bool is_asked_to_stop_ = false;          // this rank or another
  int stop_signal_ = 0;                    // that the first rank with one got
  std::optional<data::MicroBatch> probe_;  // of the last step
  int64_t probed_step_ = -1;               // after which the weights gave finite gradients for it
  std::vector<MetricsSink*> sinks_;        // of run()
  BackgroundSave background_{store_};
};

}  // namespace cloze::train
