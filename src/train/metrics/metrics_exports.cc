#include "train/metrics/metrics_exports.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>

#include "base/seconds.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"

namespace cloze::train {
namespace {

constexpr const char* kProject = "cloze";

// NaN and infinities have spellings of their own there.
std::string prometheus_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

WandbMetrics::WandbMetrics(const std::filesystem::path& folder, const std::string& name,
                           const formats::Json& config, int64_t steps_done)
    : run_(folder, kProject,
           name.empty() ? std::filesystem::absolute(folder).lexically_normal().filename().string()
                        : name,
           config, steps_done) {}

WandbMetrics::~WandbMetrics() {
  try {
    run_.write_exit(is_finished_ ? 0 : 1);
  } catch (...) {  // the disk is full: what was written can be sent without an end
  }
}

void WandbMetrics::write(const StepMetrics& metrics) {
  formats::Json values;
  for (const formats::Scalar& scalar : scalars_of(metrics)) values[scalar.tag] = scalar.value;
  run_.write_history(metrics.step, values);
}

DlloggerMetrics::DlloggerMetrics(const std::filesystem::path& path, const formats::Json& config,
                                 int64_t steps_done)
    : file_(path, steps_done > 0 ? -1 : 0) {
  for (const auto& [name, value] : config.items()) append("PARAMETER", {{name, value}});
}

void DlloggerMetrics::write(const StepMetrics& m) {
  formats::Json data{{"step_loss", m.loss}};
  for (const LossValue& part : m.losses) data[part.name + "_loss"] = part.loss;
  data["learning_rate"] = m.learning_rate;
  data["average_training_time_step"] = m.seconds;
  data["average_perf_per_step"] = m.sequences_per_second;
  append(formats::Json::array({m.step}), data);
  last_ = {.samples = m.samples, .seconds = seconds_since(start_)};
  last_loss_ = m.loss;
  if (!first_) first_ = last_;
}

void DlloggerMetrics::finish() {
  formats::Json data{{"final_loss", last_loss_}};
  if (first_ && last_.seconds > first_->seconds) {
    data["training_sequences_per_second"] =
        static_cast<double>(last_.samples - first_->samples) / (last_.seconds - first_->seconds);
  }
  data["e2e_train_time"] = seconds_since(start_);
  append(formats::Json::array(), data);
}

void DlloggerMetrics::append(const formats::Json& step, const formats::Json& data) {
  const auto now = std::chrono::system_clock::now();
  file_.append(
      "DLLL " +
      formats::json_line(
          {{"timestamp",
            fmt::format("{:.3f}", std::chrono::duration<double>(now.time_since_epoch()).count())},
           {"elapsedtime", fmt::format("{:.3f}", seconds_since(start_))},
           {"datetime", fmt::format("{:%Y-%m-%d %H:%M:%S}", now)},
           {"type", "LOG"},
           {"step", step},
           {"data", data}}) +
      "\n");
}

void PrometheusMetrics::write(const StepMetrics& m) {
  std::string text;
  const auto add = [&](const std::string& name, const char* help, double value) {
    text += fmt::format("# HELP cloze_{0} {1}\n# TYPE cloze_{0} gauge\ncloze_{0} {2}\n", name, help,
                        prometheus_number(value));
  };
  add("step", "Weight updates done", static_cast<double>(m.step));
  add("epoch", "Passes over the data", m.epoch);
  add("samples", "Sequences trained on", static_cast<double>(m.samples));
  add("tokens", "Real tokens trained on", static_cast<double>(m.tokens));
  add("loss", "Sum of the losses", m.loss);
  for (const LossValue& part : m.losses) {
    add(part.name + "_loss", "A part of the loss", part.loss);
    if (part.accuracy) add(part.name + "_accuracy", "Share of correct predictions", *part.accuracy);
  }
  add("learning_rate", "Learning rate of the last step", m.learning_rate);
  add("gradient_norm", "Gradient norm before clipping", m.gradient_norm);
  add("loss_scale", "Loss scale of the last step", m.loss_scale);
  add("skipped_steps", "Steps whose data did not change the weights",
      static_cast<double>(m.skipped_steps));
  add("tokens_per_second", "Real tokens", m.tokens_per_second);
  add("sequences_per_second", "Sequences", m.sequences_per_second);
  add("data_wait_share", "Share of a step's seconds spent waiting for data", m.data_wait_share);
  if (m.ceiling_share)
    add("ceiling_share", "FLOPs per second as a share of the fastest matrix product's",
        *m.ceiling_share);
  platform::write_file_atomically(path_, text);
}

std::vector<std::unique_ptr<MetricsSink>> make_exports(const MetricsExports& exports,
                                                       const ExportedRun& run) {
  // For results/dllogger.json the folder is created too.
  const auto place = [&](const std::filesystem::path& name) {
    const std::filesystem::path path = run.folder / name;
    platform::make_writable_directory(path.parent_path());
    return path;
  };
  std::vector<std::unique_ptr<MetricsSink>> sinks;
  if (exports.wandb) {
    sinks.push_back(
        std::make_unique<WandbMetrics>(run.folder, exports.wandb_name, run.config, run.done.steps));
  }
  if (!exports.dllogger_file.empty()) {
    sinks.push_back(std::make_unique<DlloggerMetrics>(place(exports.dllogger_file), run.config,
                                                      run.done.steps));
  }
  if (!exports.mllog_file.empty()) {
    sinks.push_back(
        std::make_unique<MllogMetrics>(place(exports.mllog_file), run.mllog, run.done, run.start));
  }
  if (!exports.prometheus_file.empty()) {
    sinks.push_back(std::make_unique<PrometheusMetrics>(place(exports.prometheus_file)));
  }
  return sinks;
}

}  // namespace cloze::train
