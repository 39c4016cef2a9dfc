// Lines ":::MLLOG {json}" as MLPerf's logger writes them, with the keys of its BERT.
//
//   init_start, the facts of mllog_facts(), init_stop, run_start, block_start;
//   of each step tracked_stats {"train_loss", "mlm_loss" ..., "learning_rate", "throughput"
//   (sequences a second)}, with step and samples_count;
//   block_stop, train_samples, run_stop with status "success", or "aborted" when the run did not
//   come to its last step.
//
// Who submits and on what (submission_org ...), cache_clear and the evaluation of MLPerf's own
// held-out samples are not ours to say, so the lines are no submission by themselves.
// Source: github.com/mlcommons/logging, mlperf_logging/mllog/mllog.py and
// compliance_checker/training_5.0.0/closed_bert.yaml.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <source_location>
#include <string>

#include "platform/file.h"
#include "train/metrics.h"

namespace cloze::train {

struct TrainingOptions;

// "seed", "global_batch_size", "opt_lamb_beta_1" ... of the run; what its optimiser does not read
// is left out.
nlohmann::ordered_json mllog_facts(const TrainingOptions& options, int64_t sequence_length);

class MllogMetrics : public MetricsSink {
 public:
  using Clock = std::chrono::system_clock;

  // `start`: when the program began to set the run up. A resumed run (samples_done > 0) goes on in
  // the file, a new one starts it over.
  MllogMetrics(const std::filesystem::path& path, const nlohmann::ordered_json& facts,
               int64_t samples_done, Clock::time_point start);
  // Without finish() the run was aborted.
  ~MllogMetrics() override;
  void write(const StepMetrics& metrics) override;
  void finish() override;

 private:
  void append(const char* event_type, const std::string& key, nlohmann::ordered_json value,
              nlohmann::ordered_json metadata = nlohmann::ordered_json::object(),
              Clock::time_point time = Clock::now(),
              const std::source_location& place = std::source_location::current());
  void end(const char* status);

  platform::AppendFile file_;
  int64_t total_steps_;
  int64_t samples_;  // of the last line
  int64_t step_ = 0;
  bool has_ended_ = false;
};

}  // namespace cloze::train
