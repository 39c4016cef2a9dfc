// Lines ":::MLLOG {json}" as MLPerf's logger writes them, with the keys of its BERT.
//
//   init_start, the facts of mllog_run(), weights_initialization of each tensor, init_stop,
//   run_start, block_start;
//   of each step tracked_stats {"train_loss", "mlm_loss" ..., "learning_rate", "throughput"
//   (sequences a second)}, with step and samples_count;
//   of each evaluation block_stop, eval_start, eval_accuracy, eval_stop, and block_start when the
//   run goes on;
//   block_stop, train_samples, run_stop with status "success", or "aborted" when the run reached
//   neither its target nor, without one, its last step and the evaluation after it.
//
// As the programs of the submissions do, epochs are counted in sequences. cache_clear is false:
// clearing the machine's caches is the submitter's part. With an evaluation set and lamb the
// compliance rules 3.0.0 to 5.0.0 are kept (scripts/check_mllog); 2.0.0 and 2.1.0 want 24 layers.
// Source: github.com/mlcommons/logging, mlperf_logging/mllog/mllog.py and compliance_checker,
// training_2.0.0 and training_5.0.0: common.yaml, closed_common.yaml, closed_bert.yaml.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "formats/json.h"
#include "platform/files/append_file.h"
#include "train/metrics/metrics.h"

namespace cloze::train {

// Who submits what.
struct Submission {
  std::string organisation = "cloze";
  std::string division = "closed";
  std::string platform = "cpu";
};

struct MllogRun {
  formats::Json facts;               // by key, in this order
  std::vector<std::string> tensors;  // of the model, by TensorFlow's names
  int64_t total_steps = 0;
  bool evaluates = false;  // after the last step too
  std::optional<double> target;
};
// Where a run stands when it starts.
struct MllogPlace {
  int64_t steps = 0, samples = 0;
  int64_t evaluated_step = 0;
  std::optional<double> best;  // of the evaluations
};

class MllogMetrics : public MetricsSink {
 public:
  using Clock = std::chrono::system_clock;

  // `start`: when the program began to set the run up. A resumed run (done.samples > 0) goes on in
  // the file, a new one starts it over.
  MllogMetrics(const std::filesystem::path& path, const MllogRun& run, const MllogPlace& done,
               Clock::time_point start);
  // Without finish() the run was aborted.
  ~MllogMetrics() override;
  void write(const StepMetrics& metrics) override;
  void write_evaluation(const EvaluationMetrics& metrics) override;
  void finish() override;

 private:
  void append(const char* event_type, const std::string& key, formats::Json value,
              formats::Json metadata = formats::Json::object(),
              Clock::time_point time = Clock::now(),
              const std::source_location& place = std::source_location::current());
  // Of steps between two evaluations.
  void begin_block();
  void end_block(Clock::time_point time);
  bool has_succeeded() const;
  void end(const char* status);

  platform::AppendFile file_;
  int64_t total_steps_;
  bool evaluates_;
  std::optional<double> target_;
  MllogPlace done_;  // up to the last line
  bool is_in_block_ = false;
  int64_t block_samples_;  // when it began, or will begin
  Clock::time_point block_start_;
  bool has_ended_ = false;
};

}  // namespace cloze::train
