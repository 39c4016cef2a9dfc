// The models of a fine-tuning task: what a checkpoint, or a model that is being trained, scores and
// predicts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cli/run/finetune_run.h"
#include "inference/inference_client.h"
#include "inference/inference_memory.h"
#include "tasks/finetuning_task.h"

namespace cloze::cli {

// Prints what a task says, reports on the texts that it cuts (cli/data/cut_report.h), and shows the
// progress of its models. When a signal asks to stop, the client that is watched throws
// InferenceStopped, which the functions of FinetuneModels catch. Keeps a reference.
tasks::TaskOutput task_output(const FinetuneRun& run);

// The memory that it takes to infer with the run's model.
inference::InferenceMemory memory_to_infer(const FinetuneRun& run, const models::BertHead& head);

// Keeps references.
class FinetuneModels {
 public:
  FinetuneModels(const FinetuneRun& run, tasks::FinetuningTask& task) : run_(run), task_(task) {}

  // The task's metric of the model as it is; nothing when a signal ended the evaluation.
  std::optional<double> evaluate(engine::Session& trained, int64_t step) const;
  // Scores and predicts with a checkpoint, into a folder. Exits with 75 when a signal asks to stop.
  tasks::Scores finish(const std::filesystem::path& checkpoint,
                       const std::filesystem::path& folder) const;

 private:
  const engine::CompileOptions& machine() const { return run_.training.step.compile; }
  inference::PretrainedModel model_at(const std::filesystem::path& path) const;
  inference::InferenceClient client_of(inference::PackedModel model) const;

  const FinetuneRun& run_;
  tasks::FinetuningTask& task_;
};

}  // namespace cloze::cli
