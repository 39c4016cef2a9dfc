// What the parts of a training run share: its options, the step with the weights, where it stands,
// and who is told.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/metrics/metrics.h"
#include "train/saving/training_state.h"
#include "train/training_options.h"
#include "train/training_step.h"

namespace cloze::train {

// Called with one line of text for the user: what was loaded, saved, skipped.
using Notice = std::function<void(const std::string&)>;

struct Run {
  Run(TrainingOptions options, Notice notice);

  TrainingOptions options;
  Notice notice;
  TrainingStep step;
  TrainingState state;
  std::vector<StepMetrics> history;  // for trainer_state.json
  std::vector<MetricsSink*> sinks;

  // Whether this rank writes the checkpoints.
  bool is_first_rank() const { return options.step.ranks->rank() == 0; }
  // Counts the data of a batch, whether a step uses or drops them.
  void count(const data::StepBatch& batch);
  // Drops a step, whose data are not used again: it might go wrong for ever.
  void skip(const data::StepBatch& batch);
};

}  // namespace cloze::train
