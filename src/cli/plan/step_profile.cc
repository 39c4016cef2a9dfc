#include "cli/plan/step_profile.h"

#include <fmt/format.h>

#include "cli/plan/chrome_trace.h"
#include "platform/file.h"

namespace cloze::cli {

StepProfile::StepProfile(engine::Session& session, Report report, std::filesystem::path path)
    : executor_(session.executor()), report_(std::move(report)), path_(std::move(path)) {}

void StepProfile::add(const train::StepMetrics& metrics) {
  if (is_written_) return;
  if (warm_steps_ < kWarmUpSteps) {
    if (++warm_steps_ == kWarmUpSteps) executor_.set_profiling(true);
    return;
  }
  steps_.push_back(metrics.seconds * (1.0 - metrics.data_wait_share));
  num_spans_ = executor_.spans().size();
  if (steps_.size() == kSteps) finish();
}

std::string StepProfile::outcome() {
  if (!is_written_ && !steps_.empty()) finish();
  if (is_written_) {
    return fmt::format("wrote {} and {}, of {} steps", path_.string(), trace_path(path_).string(),
                       steps_.size());
  }
  return fmt::format("no {}: a profile begins after {} steps; train for more", path_.string(),
                     kWarmUpSteps);
}

void StepProfile::finish() {
  executor_.set_profiling(false);
  const std::span<const runtime::LaunchSpan> spans(executor_.spans().data(), num_spans_);
  report_.measured = measured_seconds(report_.program, spans, steps_);
  platform::write_file_atomically(path_, report_html(report_));
  platform::write_file_atomically(trace_path(path_),
                                  chrome_trace(report_.program, report_.use, spans));
  is_written_ = true;
}

}  // namespace cloze::cli
