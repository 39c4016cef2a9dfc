// state.json, where training stands; and trainer_state.json, what Hugging Face's tools read of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "train/metrics/metrics.h"
#include "train/watch/early_stopping.h"
#include "train/watch/loss_scale.h"
#include "train/watch/step_watch.h"

namespace cloze::train {

// Where training stands. All counts are since the start of the run.
struct TrainingState {
  int64_t step = 0;         // weight updates done
  int64_t total_steps = 0;  // of the whole run
  int64_t samples = 0;      // sequences consumed, those of skipped steps too
  int64_t tokens = 0;       // real tokens consumed
  double epoch = 0.0;
  uint64_t seed = 0;
  std::optional<double> best_metric;  // of the evaluations so far
  int64_t best_step = 0;              // after which it was reached; its checkpoint is kept
  int64_t evaluated_step = 0;         // of the last evaluation that came to its end
  std::string evaluated_on;           // a name for what these scores are of; empty: not known
  EarlyStoppingState early_stopping;  // what these scores gained
  int64_t skipped_steps = 0;          // whose data were read and are in no update, or in one undone
  LossScaleState loss_scale;
  WatchState watch;
  int64_t logged_steps = 0;  // steps that were logged, in the history or not
  // What must not change on resuming (train/run_identity.h); empty where a checkpoint lacks it.
  formats::Json identity = formats::Json::object();
  bool operator==(const TrainingState&) const = default;

  // Batches of the data's order that are consumed.
  int64_t batches() const { return step + skipped_steps; }
  // Keeps the best of later evaluations alone, and begins to count anew how many gain nothing.
  void forget_best() {
    best_metric.reset();
    early_stopping = {};
  }
};

inline constexpr const char* kStateName = "state.json";

std::string training_state_text(const TrainingState& state);
// DataError that names the file and the key that is missing or of another kind.
TrainingState read_training_state(const std::filesystem::path& path);

inline constexpr const char* kTrainerStateName = "trainer_state.json";

// A checkpoint has at most so many lines of the curve; for a longer run, every second, fourth ...
// of those that were logged: what a save takes does not grow with the run. metrics.jsonl has all.
inline constexpr int64_t kMostHistory = 2048;
// Adds the line that is logged after `logged` others, if it is one of those.
void add_to_history(std::vector<StepMetrics>& history, const StepMetrics& metrics, int64_t logged);

// Of each step its number, epoch, loss, learning rate and gradient norm.
std::string trainer_state_text(const TrainingState& state, std::span<const StepMetrics> history);
// These again, so that a resumed run's curve begins where the run began. DataError as above.
std::vector<StepMetrics> read_trainer_history(const std::filesystem::path& path);

}  // namespace cloze::train
