// Evaluates held-out samples while a model trains: losses and accuracies without dropout, over all
// predictions (or sequences) of the set, whatever mean the training loss is. It only reads the
// training session: the forward pass is a separate program with its own copy of all weights,
// including those of other ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "train/training_step.h"

namespace cloze::train {

// What the program of an evaluation takes; `training`: of the run.
int64_t evaluation_program_bytes(const TrainingStepOptions& training);

class Evaluation {
 public:
  // `training`: of the run. UserError when there is no sample, or one does not fit a micro-batch.
  Evaluation(const TrainingStepOptions& training, const data::Dataset& samples);

  // Interruption when a signal asks to stop.
  std::vector<LossValue> evaluate(TrainingStep& trained);

  int64_t num_samples() const { return samples_.num_sequences; }
  // Of memory: its program's and its samples'.
  int64_t bytes() const;

 private:
  data::StepBatch samples_;
  TrainingStep step_;
};

}  // namespace cloze::train
