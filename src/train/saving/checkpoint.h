// Checkpoints: folders `checkpoint-STEP`, each a Hugging Face folder plus what training needs to go
// on.
//
//   config.json model.safetensors vocab.txt tokenizer.json ...   the model (model_folder.h)
//   optimizer.safetensors    optimiser state
//   state.json               TrainingState
//   trainer_state.json       the part of it that Hugging Face's tools read
//   manifest.json            every file's size and CRC32C, and its own; written last
//
// A checkpoint is written under another name and renamed when it is whole and on the disk, so a
// folder `checkpoint-STEP` is whole, whatever happened. Names beginning with ".tmp-", ".trash-" and
// ".old-" are work in progress; what a killed run left of them is removed at the next start.
// Single writer: a store holds its folder's lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoints/hugging_face_tokenizer.h"
#include "formats/safetensors.h"
#include "models/embedding_layers.h"
#include "platform/files/folder.h"
#include "train/metrics/metrics.h"
#include "train/saving/training_state.h"

namespace cloze::train {

using checkpoints::TextFile;

// All that goes into a checkpoint. Tensors are read while it is saved.
struct CheckpointContent {
  std::vector<formats::TensorSource> model;  // Hugging Face's names
  // Layers of a model that makes vectors; tensors of the dense ones have files of their own, too.
  models::EmbeddingLayers vector_layers = {};
  std::vector<formats::TensorSource> optimizer;  // names are the caller's
  TrainingState state;
  std::vector<StepMetrics> history;  // goes into trainer_state.json
  // Makes the other files of the Hugging Face folder, and the training configuration.
  std::function<std::vector<TextFile>()> files;
};

// The folder that holds a run's checkpoints.
class CheckpointStore {
 public:
  // Makes the folder if needed (platform::MadeFolder) and removes what a killed run left.
  // max_to_keep: 0 keeps all.
  // EnvironmentError when another store, of this process or another, has the folder.
  CheckpointStore(std::filesystem::path folder, int64_t max_to_keep);

  // Returns the new checkpoint's path when it is safely on the disk; then removes the oldest over
  // max_to_keep, but not the best so far (TrainingState::best_step). EnvironmentError that names
  // the path and the bytes needed when it cannot be written; older checkpoints are then untouched.
  std::filesystem::path save(const CheckpointContent& content);

  // Copies the checkpoint of a step from another folder into this one, unless an undamaged one of
  // that step is there.
  void adopt(const std::filesystem::path& checkpoint, int64_t step);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  // Writes under another name, then publishes. If that fails, the error says "cannot WHAT: reason".
  void install(const std::filesystem::path& target, const std::string& what,
               const std::function<void(const std::filesystem::path& temporary)>& write);
  void publish(const std::filesystem::path& temporary, const std::filesystem::path& target);
  void rotate(const std::filesystem::path& just_saved, const TrainingState& state);

  platform::MadeFolder made_;
  std::filesystem::path folder_;
  int64_t max_to_keep_;
  platform::FolderLock lock_;
};

// FOLDER/checkpoint-STEP
std::filesystem::path checkpoint_path(const std::filesystem::path& folder, int64_t step);

// The folder of checkpoints that a path stands for: the one around a checkpoint, else itself.
std::filesystem::path run_folder_of(const std::filesystem::path& path);

// Steps of the checkpoints in a folder, damaged or not, newest first. A new run should not begin in
// a folder that has some: on resuming, they would be taken for its own.
std::vector<int64_t> checkpoint_steps(const std::filesystem::path& folder);

struct FoundCheckpoint {
  std::filesystem::path path;
  int64_t step = 0;
  std::vector<std::string> skipped;  // newer ones that are damaged: "checkpoint-200: why"
};

enum class CheckpointUse { kTraining, kInference };

// The newest undamaged checkpoint of a folder; or the folder itself, when it is a checkpoint.
// Inference does without the optimiser's state, two thirds of the bytes, and its content is not
// read. UserError when there is none, DataError naming each one's damage when all are damaged.
FoundCheckpoint find_checkpoint(const std::filesystem::path& folder,
                                CheckpointUse use = CheckpointUse::kTraining);

// The same, or `found` when it was found in that folder before: whether it is damaged shows only
// when all of it is read.
FoundCheckpoint checkpoint_in(const std::filesystem::path& folder,
                              const std::optional<FoundCheckpoint>& found);

// A checkpoint opened for reading. DataError that names the file when it does not hold what it
// should.
struct OpenCheckpoint {
  explicit OpenCheckpoint(const std::filesystem::path& path);
  formats::SafetensorsFile model;
  formats::SafetensorsFile optimizer;
  TrainingState state;
};

}  // namespace cloze::train
