// The evaluations of a run: when they are due, what they score, whether their target is reached, and
// whether they still gain (watch/early_stopping.h). The best score so far is part of TrainingState.
#pragma once

#include <optional>

#include "train/evaluation.h"
#include "train/run.h"

namespace cloze::train {

// kStoppedEarly: the evaluations gained nothing. kMissedTarget: all steps are done, and no evaluation reached the target.
enum class TrainingOutcome { kFinished, kStoppedEarly, kMissedTarget, kStoppedBySignal };

class Evaluator {
 public:
  // The run outlives it. UserError for an evaluation set that cannot be used.
  explicit Evaluator(Run& run);

  // Whether an evaluation follows the step that the run stands at.
  bool is_due() const;
  // Whether that is still to be done, as the run was interrupted.
  bool is_behind() const { return run_.state.step > run_.state.evaluated_step && is_due(); }
  // The next step after which one is due, or nothing.
  std::optional<int64_t> next_step() const;
  // Scores the weights as they are and tells user and sinks. kNone: a signal to stop ended it.
  enum class Score { kNone, kNotBest, kBest };
  Score evaluate();

  // Scores of other data, and those of a run that evaluates nothing from here on, no longer decide
  // which weights are the best. Returns whether there were such scores.
  bool drop_other_scores();
  bool has_reached_target() const;
  // Says whether the evaluations so far end the run.
  bool has_stopped_early() const;
  // How the run ends if it ends here.
  TrainingOutcome outcome() const;
  // The memory that the evaluation set takes.
  int64_t bytes() const { return evaluation_ ? evaluation_->bytes() : 0; }

 private:
  bool evaluates() const { return run_.options.evaluate || evaluation_; }
  std::optional<EvaluationMetrics> score();

  Run& run_;
  std::optional<Evaluation> evaluation_;  // of an evaluation set
};

}  // namespace cloze::train
