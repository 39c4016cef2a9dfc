// Saves a run where it stands: beside the steps from a copy in memory, or while they wait.
//
// The first rank writes. Where ranks hold different tensors, the others send it theirs
// (ranks/gathered_tensors.h).
//
// Errors: EnvironmentError when a checkpoint cannot be written; of one that is written beside the
// steps, with the next call.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/run.h"
#include "train/saving/background_save.h"
#include "train/saving/checkpoint.h"

namespace cloze::train {

class Saver {
 public:
  // Takes the folder of checkpoints (CheckpointStore). The run outlives it.
  explicit Saver(Run& run);

  // Whether the checkpoint of the step that the run stands at has all there is to save.
  bool is_saved() const { return saved_step_ == run_.state.step; }
  void take_as_saved() { saved_step_ = run_.state.step; }
  void take_as_unsaved() { saved_step_ = -1; }
  // All ranks call it together. is_last: it is on the disk when this returns.
  void save(bool is_last);
  // Says what has been saved beside the steps.
  void announce_saved() { announce(background_.outcome()); }
  // Waits for the save that goes on beside the steps. A failed one is only reported: there is
  // another error to throw, or the step is saved again.
  void finish();

  // "The newest checkpoint is ...", for an error.
  std::string newest_text();
  // The newest checkpoint that the first rank has saved; all ranks call this together.
  FoundCheckpoint newest();
  CheckpointStore& store() { return store_; }

 private:
  void save_together();
  CheckpointContent content_of_session();
  CheckpointContent content(std::vector<formats::TensorSource> model,
                            std::vector<formats::TensorSource> optimizer);
  void announce(const std::optional<std::filesystem::path>& saved);

  Run& run_;
  CheckpointStore store_;
  int64_t saved_step_ = -1;
  BackgroundSave background_{store_};
};

}  // namespace cloze::train
