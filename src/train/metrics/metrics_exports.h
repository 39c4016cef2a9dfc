// Metrics in the forms that other programs read, beside metrics.jsonl and TensorBoard.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "formats/wandb_run.h"
#include "platform/files/append_file.h"
#include "train/metrics/metrics.h"
#include "train/metrics/mllog.h"

namespace cloze::train {

// A run of Weights & Biases below the folder, under the names of TensorBoardMetrics.
class WandbMetrics : public MetricsSink {
 public:
  // An empty name is the folder's. config: the run's options.
  WandbMetrics(const std::filesystem::path& folder, const std::string& name,
               const formats::Json& config, int64_t steps_done);
  // Without finish() the run counts as failed.
  ~WandbMetrics() override;
  void write(const StepMetrics& metrics) override;
  void finish() override { is_finished_ = true; }

 private:
  formats::WandbRun run_;
  bool is_finished_ = false;
};

// Lines "DLLL {json}" of NVIDIA's DLLogger, as the BERT of NVIDIA and Habana writes them: PARAMETER
// once for each option, then of each step step_loss, learning_rate, average_training_time_step
// (seconds) and average_perf_per_step (sequences a second), and at the end final_loss,
// training_sequences_per_second (from the first line to the last) and e2e_train_time.
// Source: github.com/NVIDIA/dllogger, logger.py; Habana's pretraining/run_pretraining.py.
class DlloggerMetrics : public MetricsSink {
 public:
  // A resumed run (steps_done > 0) goes on in the file, a new one starts it over.
  DlloggerMetrics(const std::filesystem::path& path, const formats::Json& config,
                  int64_t steps_done);
  void write(const StepMetrics& metrics) override;
  void finish() override;

 private:
  void append(const formats::Json& step, const formats::Json& data);

  // A line of a step.
  struct Written {
    int64_t samples = 0;
    double seconds = 0.0;  // since start_
  };
  platform::AppendFile file_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Written> first_;
  Written last_;
  double last_loss_ = 0.0;
};

// The newest step as Prometheus' text format, for node_exporter's textfile collector: gauges
// cloze_step, cloze_loss, cloze_NAME_loss ... The file is replaced as a whole.
// Source: prometheus.io/docs/instrumenting/exposition_formats.
class PrometheusMetrics : public MetricsSink {
 public:
  explicit PrometheusMetrics(std::filesystem::path path) : path_(std::move(path)) {}
  void write(const StepMetrics& metrics) override;

 private:
  std::filesystem::path path_;
};

// Which of them a run writes. Files lie in the folder of the run unless their paths are absolute.
struct MetricsExports {
  bool wandb = false;
  std::string wandb_name;
  std::filesystem::path dllogger_file;
  std::filesystem::path mllog_file;
  Submission submission;
  std::filesystem::path prometheus_file;
};
// What they say about the run besides its steps.
struct ExportedRun {
  std::filesystem::path folder;
  formats::Json config;  // its options
  MllogRun mllog;
  MllogPlace done;
  std::chrono::system_clock::time_point start;  // when setting it up began
};
std::vector<std::unique_ptr<MetricsSink>> make_exports(const MetricsExports& exports,
                                                       const ExportedRun& run);

}  // namespace cloze::train
