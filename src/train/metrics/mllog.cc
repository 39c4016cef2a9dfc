#include "train/metrics/mllog.h"

#include <algorithm>
#include <utility>

#include "formats/json.h"

namespace cloze::train {
namespace {

constexpr const char* kStart = "INTERVAL_START";
constexpr const char* kEnd = "INTERVAL_END";
constexpr const char* kPoint = "POINT_IN_TIME";

}  // namespace

MllogMetrics::MllogMetrics(const std::filesystem::path& path, const MllogRun& run,
                           const MllogPlace& done, Clock::time_point start)
    : file_(path, done.samples > 0 ? -1 : 0),
      total_steps_(run.total_steps),
      evaluates_(run.evaluates),
      target_(run.target),
      done_(done),
      block_samples_(done.samples) {
  append(kStart, "init_start", nullptr, formats::Json::object(), start);
  for (const auto& [key, value] : run.facts.items()) append(kPoint, key, value);
  for (const std::string& tensor : run.tensors) {
    append(kPoint, "weights_initialization", nullptr, {{"tensor", tensor}});
  }
  append(kEnd, "init_stop", nullptr);
  append(kStart, "run_start", nullptr);
  block_start_ = Clock::now();
  begin_block();
}

MllogMetrics::~MllogMetrics() {
  try {
    if (!has_ended_) end("aborted");
  } catch (...) {  // the disk is full: what was written can be read without an end
  }
}

void MllogMetrics::write(const StepMetrics& m) {
  formats::Json stats{{"train_loss", m.loss}};
  for (const LossValue& part : m.losses) stats[part.name + "_loss"] = part.loss;
  stats["learning_rate"] = m.learning_rate;
  stats["throughput"] = m.sequences_per_second;
  done_.steps = m.step;
  done_.samples = m.samples;
  begin_block();
  append(kPoint, "tracked_stats", std::move(stats),
         {{"step", m.step}, {"samples_count", m.samples}, {"epoch_num", m.epoch}});
}

void MllogMetrics::write_evaluation(const EvaluationMetrics& m) {
  done_.steps = done_.evaluated_step = m.step;
  done_.samples = m.samples;
  const Clock::time_point end = Clock::now();
  const Clock::time_point start =
      end - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(m.seconds));
  begin_block();
  end_block(start);
  const formats::Json place{{"epoch_num", m.samples}, {"samples_count", m.samples}};
  append(kStart, "eval_start", nullptr, place, start);
  append(kPoint, "eval_accuracy", m.score, place, end);
  append(kEnd, "eval_stop", nullptr, place, end);
  done_.best = std::max(done_.best.value_or(0.0), m.score);
  block_samples_ = m.samples;
  block_start_ = end;
}

void MllogMetrics::begin_block() {
  if (is_in_block_) return;
  is_in_block_ = true;
  append(
      kStart, "block_start", nullptr,
      {{"first_epoch_num", block_samples_}, {"epoch_count", 1}, {"samples_count", block_samples_}},
      block_start_);
}

void MllogMetrics::end_block(Clock::time_point time) {
  if (!is_in_block_) return;
  is_in_block_ = false;
  append(kEnd, "block_stop", nullptr,
         {{"first_epoch_num", block_samples_}, {"samples_count", done_.samples}}, time);
}

bool MllogMetrics::has_succeeded() const {
  if (target_) return done_.best && *done_.best >= *target_;
  return done_.steps == total_steps_ && (!evaluates_ || done_.evaluated_step == total_steps_);
}

void MllogMetrics::finish() { end(has_succeeded() ? "success" : "aborted"); }

void MllogMetrics::end(const char* status) {
  has_ended_ = true;
  end_block(Clock::now());
  append(kPoint, "train_samples", done_.samples);
  append(kEnd, "run_stop", nullptr, {{"status", status}, {"samples_count", done_.samples}});
}

void MllogMetrics::append(const char* event_type, const std::string& key, formats::Json value,
                          formats::Json metadata, Clock::time_point time,
                          const std::source_location& place) {
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
