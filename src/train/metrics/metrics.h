// What is measured at a step, and the files it goes to. metrics.jsonl is the record; TensorBoard
// and the progress line show parts of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/tensorboard.h"
#include "platform/files/append_file.h"
#include "train/metrics/communication_time.h"
#include "train/metrics/loss_value.h"
#include "train/metrics/pipeline_bubble.h"

namespace cloze::train {

// L2 norms of a parameter and its gradient.
struct TensorNorm {
  std::string name;
  double weight = 0.0;    // as the step found it
  double gradient = 0.0;  // of the whole step, before clipping and without the loss scale
};

// loss is the sum of the losses. Rates count real tokens, never padding.
struct StepMetrics {
  int64_t step = 0;     // weight updates done, this one included
  double epoch = 0.0;   // passes over the data, fractions included
  int64_t samples = 0;  // sequences trained on since the start of the run
  int64_t tokens = 0;   // real tokens trained on since the start of the run
  double loss = 0.0;
  std::vector<LossValue> losses;
  int64_t high_losses = 0;     // steps in a row, up to this one, with a high loss: step_watch.h
  double learning_rate = 0.0;  // of this step
  double gradient_norm = 0.0;  // before clipping
  double loss_scale = 1.0;     // of this step (watch/loss_scale.h)
  int64_t skipped_steps = 0;   // since the start of the run: not among the updates
  double tokens_per_second = 0.0;
  double sequences_per_second = 0.0;
  double data_wait_share = 0.0;                    // of the step's seconds, waiting for data
  double seconds = 0.0;                            // the step took
  std::optional<CommunicationTime> communication;  // of several ranks
  std::optional<PipelineBubble> bubble;            // of a pipeline
  double flops = 0.0;                              // of its useful work (models/bert_flops.h)
  // FLOPs a second as a share of those of the fastest matrix product that was measured; nothing
  // when none was.
  std::optional<double> ceiling_share;
  std::vector<TensorNorm> norms;  // when asked for
};

// What the model of a run that is not over scored after a step.
struct EvaluationMetrics {
  int64_t step = 0;
  double epoch = 0.0;
  int64_t samples = 0;            // sequences trained on until then
  double score = 0.0;             // the task's metric; more is better
  std::vector<LossValue> losses;  // of the evaluation set, where there is one
  double seconds = 0.0;           // the evaluation took
};

class MetricsSink {
 public:
  virtual ~MetricsSink() = default;
  virtual void write(const StepMetrics& metrics) = 0;
  virtual void write_evaluation(const EvaluationMetrics& /*metrics*/) {}
  // The run went back to this step: what was written of later ones is not part of it.
  virtual void forget_after(int64_t /*step*/) {}
  // The run has come to its end, or stops where it can go on.
  virtual void finish() {}
};

// metrics.jsonl: a first line {"schema": "cloze.metrics", "version": 1}, then one object per step
// with the fields of StepMetrics, the losses as NAME_loss and NAME_accuracy, the norms as
// weight_norms and gradient_norms, {name: norm}; and one per evaluation with those of
// EvaluationMetrics, its step as evaluated_step. Each line is in the file when write() returns.
// Numbers that are not finite are null.
class MetricsLog : public MetricsSink {
 public:
  // Lines of steps after `steps_done` are cut: a resumed run writes them again, a new run (0)
  // starts an empty file. EnvironmentError when the file cannot be written.
  MetricsLog(const std::filesystem::path& path, int64_t steps_done);
  void write(const StepMetrics& metrics) override;
  void write_evaluation(const EvaluationMetrics& metrics) override;
  void forget_after(int64_t step) override;

 private:
  void write_header();

  std::filesystem::path path_;
  platform::AppendFile file_;
};

// Scalars under the names of Graphcore's BERT: loss/NAME and accuracy/NAME (MLM, NSP, SPAN ...),
// learning_rate, loss_scaling, samples_per_sec, samples, epoch; and train/loss, train/grad_norm,
// train/skipped_steps, train/tokens_per_sec, train/data_wait_share, train/ceiling_share,
// train/communication_seconds, train/communication_hidden_share,
// weight_norm/TENSOR, gradient_norm/TENSOR.
std::vector<formats::Scalar> scalars_of(const StepMetrics& metrics);

// scalars_of() for TensorBoard.
class TensorBoardMetrics : public MetricsSink {
 public:
  // A resumed run (steps_done > 0) hides what earlier files hold of later steps.
  TensorBoardMetrics(const std::filesystem::path& folder, int64_t steps_done);
  void write(const StepMetrics& metrics) override;
  void forget_after(int64_t step) override { writer_.write_session_start(step + 1); }

 private:
  formats::TensorBoardWriter writer_;
};

}  // namespace cloze::train
