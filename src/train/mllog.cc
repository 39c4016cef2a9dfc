#include "train/mllog.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/json.h"
#include "train/training.h"

namespace cloze::train {
namespace {

constexpr const char* kStart = "INTERVAL_START";
constexpr const char* kEnd = "INTERVAL_END";
constexpr const char* kPoint = "POINT_IN_TIME";
constexpr const char* kTotalSteps = "opt_learning_rate_training_steps";

// "opt_lamb_beta_1" ...
void add_optimizer_facts(const optim::OptimizerOptions& options, nlohmann::ordered_json& facts) {
  struct Fact {
    const char* option;
    const char* key;
    double value;
  };
  const Fact all[] = {{"beta1", "beta_1", options.beta1},
                      {"beta2", "beta_2", options.beta2},
                      {"epsilon", "epsilon", options.epsilon},
                      {"weight_decay_rate", "weight_decay_rate", options.weight_decay_rate},
                      {"momentum", "momentum", options.momentum}};
  const optim::Optimizer& optimizer = optim::optimizer_named(options.name);
  for (const Fact& fact : all) {
    if (std::ranges::count(optimizer.options, fact.option) == 0) continue;
    facts[fmt::format("opt_{}_{}", optimizer.name, fact.key)] = fact.value;
  }
}

}  // namespace

nlohmann::ordered_json mllog_facts(const TrainingOptions& options, int64_t sequence_length) {
  nlohmann::ordered_json facts{{"submission_benchmark", "bert"},
                               {"seed", options.step.seed},
                               {"global_batch_size", options.global_batch_size},
                               {"max_sequence_length", sequence_length},
                               {"opt_name", options.step.optimizer.name},
                               {"opt_base_learning_rate", options.schedule.base_learning_rate},
                               {"opt_learning_rate_warmup_steps", options.schedule.warmup_steps},
                               {"num_warmup_steps", options.schedule.warmup_steps},
                               {"start_warmup_step", 0},
                               {kTotalSteps, options.num_steps}};
  add_optimizer_facts(options.step.optimizer, facts);
  return facts;
}

MllogMetrics::MllogMetrics(const std::filesystem::path& path, const nlohmann::ordered_json& facts,
                           int64_t samples_done, Clock::time_point start)
    : file_(path, samples_done > 0 ? -1 : 0),
      total_steps_(facts.at(kTotalSteps).get<int64_t>()),
      samples_(samples_done) {
  append(kStart, "init_start", nullptr, nlohmann::ordered_json::object(), start);
  for (const auto& [key, value] : facts.items()) append(kPoint, key, value);
  append(kEnd, "init_stop", nullptr);
  append(kStart, "run_start", nullptr);
  append(kStart, "block_start", nullptr, {{"samples_count", samples_}});
}

MllogMetrics::~MllogMetrics() {
  try {
    if (!has_ended_) end("aborted");
  } catch (...) {  // the disk is full: what was written can be read without an end
  }
}

void MllogMetrics::write(const StepMetrics& m) {
  nlohmann::ordered_json stats{{"train_loss", m.loss}};
  for (const LossValue& part : m.losses) stats[part.name + "_loss"] = part.loss;
  stats["learning_rate"] = m.learning_rate;
  stats["throughput"] = m.sequences_per_second;
  step_ = m.step;
  samples_ = m.samples;
  append(kPoint, "tracked_stats", std::move(stats),
         {{"step", m.step}, {"samples_count", m.samples}, {"epoch_num", m.epoch}});
}

void MllogMetrics::finish() { end(step_ == total_steps_ ? "success" : "aborted"); }

void MllogMetrics::end(const char* status) {
  has_ended_ = true;
  append(kEnd, "block_stop", nullptr, {{"samples_count", samples_}});
  append(kPoint, "train_samples", samples_);
  append(kEnd, "run_stop", nullptr, {{"status", status}, {"samples_count", samples_}});
}

void MllogMetrics::append(const char* event_type, const std::string& key,
                          nlohmann::ordered_json value, nlohmann::ordered_json metadata,
                          Clock::time_point time, const std::source_location& place) {
  using std::chrono::milliseconds;
  metadata["file"] = std::filesystem::path(place.file_name()).filename().string();
  metadata["lineno"] = place.line();
  file_.append(
      ":::MLLOG " +
      formats::json_line(
          {{"namespace", ""},
           {"time_ms", std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count()},
           {"event_type", event_type},
           {"key", key},
           {"value", std::move(value)},
           {"metadata", std::move(metadata)}}) +
      "\n");
}

}  // namespace cloze::train
