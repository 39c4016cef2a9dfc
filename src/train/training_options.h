// All that a training run depends on, apart from the files that its options name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/sentence_folder.h"
#include "data/dataset.h"
#include "engine/session.h"
#include "optim/schedule.h"
#include "text/tokenizer_options.h"
#include "train/metrics/metrics.h"
#include "train/saving/checkpoint.h"
#include "train/training_graph.h"
#include "train/watch/early_stopping.h"
#include "train/watch/loss_scale.h"
#include "train/watch/step_watch.h"

namespace cloze::train {

// The things that a run takes from init_checkpoint besides the weights: nothing, the optimiser's
// moments, or the moments and the number of updates; the run then continues from that number.
enum class InitOptimizer { kFresh, kMoments, kMomentsAndStep };

struct TrainingOptions {
  TrainingStepOptions step;
  std::shared_ptr<const data::Dataset> dataset;
  bool synthetic_data = false;    // all of the data set is one micro-batch: data/loader.h
  int64_t global_batch_size = 0;  // sequences in a step
  int64_t duplicate_factor = 1;   // copies of the text in the data; an epoch is one copy
  int64_t num_steps = 0;
  // Steps that the device is given before the host looks at their results, fewer where a
  // checkpoint, norms or an evaluation are due.
  int64_t device_iterations = 1;
  optim::Schedule schedule;
  LossScaleOptions loss_scale;
  WatchOptions watch;

  std::filesystem::path save_path = "checkpoints";  // folder of checkpoint-STEP
  std::filesystem::path init_checkpoint;            // start values
  InitOptimizer init_optimizer = InitOptimizer::kFresh;
  std::string fresh_prefix;  // tensors of init_checkpoint named so start afresh; empty: none
  // Values that parameters begin with instead of the model's own start, by name, where
  // init_checkpoint has none.
  std::map<std::string, std::vector<float>> fresh_values;
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
  EarlyStoppingOptions early_stopping;
  // The run ends at the first metric that is at least this.
  std::optional<double> target;

  std::vector<std::string> tokens;   // the vocabulary, written into checkpoints; may be empty
  text::TokenizerOptions tokenizer;  // of that vocabulary
  checkpoints::SentenceSettings sentences;  // of a head that makes vectors; written likewise
  int64_t loader_threads = 1;
  int64_t loader_memory = 256;        // MiB that steps made ready may take
  std::vector<TextFile> extra_files;  // written into checkpoints as they are

  // Why the host must look at each step before the next one, whatever device_iterations says: the
  // step is eager, may be skipped or taken back, or is shared by ranks. Empty when it need not.
  std::optional<std::string_view> why_step_by_step() const;
};

// Says whether a checkpoint is written from a copy in memory while the run goes on. A model or
// states that are divided over ranks, or in a file, are more than memory should hold twice.
bool saves_from_copy(const TrainingStepOptions& step);

}  // namespace cloze::train
