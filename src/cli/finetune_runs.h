// One or several runs of a fine-tuning command, one for each seed, and what they score.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "cli/finetune_options.h"
#include "train/training_state.h"

namespace cloze::cli {

using Scores = std::map<std::string, double>;  // "MRPC accuracy" → percent

struct FinetuneRun {
  // Trains into options.save_path.
  std::function<train::TrainingState()> train;
  // Scores and predicts with the weights of a checkpoint, into a folder.
  std::function<Scores(const std::filesystem::path& checkpoint,
                       const std::filesystem::path& folder)>
      finish;
};

// Trains when it is a phase, and finishes with the best checkpoint, else with init_checkpoint. With
// several seeds each run has a folder seed-N in save_path, and means and deviations are printed.
void finetune(FinetuneOptions& options, const Phases& phases, const FinetuneRun& run);

}  // namespace cloze::cli
