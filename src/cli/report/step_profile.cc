#include "cli/report/step_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

formats::Json name_of_row(const std::string& phase, size_t row) {
  return {
      {"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", row}, {"args", {{"name", phase}}}};
}

// The largest that computed a micro-batch. There is one: steps were run.
const plan::Program& largest_program(std::span<const runtime::LaunchSpan> spans) {
  const plan::Program* largest = nullptr;
  for (const runtime::LaunchSpan& span : spans) {
    const bool is_larger = largest == nullptr || span.program->bytes_of(plan::Arena::kInputs) >
                                                     largest->bytes_of(plan::Arena::kInputs);
    if (span.phase == 0 && is_larger) largest = span.program;
  }
  CLOZE_CHECK(largest != nullptr, "no launch of a micro-batch among {}", spans.size());
  return *largest;
}

// The mean number per step; at least one.
int64_t micro_batches_of(const plan::Program& program, std::span<const runtime::LaunchSpan> spans,
                         int64_t steps) {
  const auto first_launches = std::ranges::count_if(spans, [&](const runtime::LaunchSpan& span) {
    return forecast::is_of(span, program) && span.phase == 0 && span.launch == 0;
  });
  const double mean = static_cast<double>(first_launches) / static_cast<double>(steps);
  return std::max<int64_t>(std::llround(mean), 1);
}

formats::Json event_of(const plan::LaunchUse& launch, const runtime::LaunchSpan& span) {
  return {{"name", launch.node->name()},
          {"cat", launch.launch->op->name},
          {"ph", "X"},
          {"pid", 1},
          {"tid", span.phase},
          {"ts", span.begin * 1e6},
          {"dur", span.seconds * 1e6},
          {"args",
           {{"kernel", launch.launch->kernel_name},
            {"layer", launch.node->layer},
            {"gflop", launch.launch->flops / 1e9},
            {"bytes", launch.bytes_read + launch.bytes_written}}}};
}

}  // namespace

std::string chrome_trace(const plan::Program& program, std::span<const runtime::LaunchSpan> spans) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  std::map<const plan::Program*, plan::ProgramUse> uses;
  std::vector<size_t> first;  // of each phase
  size_t count = 0;
  for (size_t phase = 0; phase < program.phases.size(); ++phase) {
    first.push_back(count);
    count += program.phases[phase].size();
    text += (phase > 0 ? ",\n" : "\n") +
            formats::json_line(name_of_row(program.graph.phases()[phase], phase));
  }
  // Event by event: all of them as one value would take many times the text.
  for (const runtime::LaunchSpan& span : spans) {
    auto use = uses.find(span.program);
    if (use == uses.end()) use = uses.emplace(span.program, plan::use_of(*span.program)).first;
    const plan::LaunchUse& launch = use->second.launches[first[span.phase] + span.launch];
    text += ",\n" + formats::json_line(event_of(launch, span));
  }
  return text + "\n]}\n";
}

StepProfile::StepProfile(engine::Session& session, MakeReport make_report,
                         const std::filesystem::path& path)
    : executor_(session.executor()),
      make_report_(std::move(make_report)),
      report_(path),
      trace_(trace_path(path)) {
  executor_.set_profiling(true);
}

void StepProfile::add(const train::StepMetrics& metrics) {
  if (is_written_) return;
  if (num_steps_ == 0) skips_before_ = metrics.step == 1 ? 0 : metrics.skipped_steps;
  skips_ = metrics.skipped_steps;
  steps_.push_back(metrics.seconds * (1.0 - metrics.data_wait_share));
  num_spans_ = executor_.spans().size();
  if (++num_steps_ == kWarmUpSteps) warm_ = {num_spans_, skips_};
  if (num_steps_ == kWarmUpSteps + kSteps) finish();
}

std::string StepProfile::outcome() {
  if (!is_written_ && num_steps_ > 0) finish();
  if (!is_written_) return fmt::format("no {}: the run had no step", report_.path().string());
  const std::string cold =
      is_cold() ? "; the run was too short to leave out its first steps, which are slower" : "";
  return fmt::format("wrote {} and {}, of {} step{}{}", report_.path().string(),
                     trace_.path().string(), steps_.size(), steps_.size() == 1 ? "" : "s", cold);
}

void StepProfile::finish() {
  executor_.set_profiling(false);
  const Begin begin = is_cold() ? Begin{.skips = skips_before_} : warm_;
  if (!is_cold()) steps_.erase(steps_.begin(), steps_.begin() + kWarmUpSteps);
  const std::span<const runtime::LaunchSpan> spans(executor_.spans().data() + begin.first_span,
                                                   num_spans_ - begin.first_span);
  const plan::Program& program = largest_program(spans);
  const int64_t skips = std::max<int64_t>(skips_ - begin.skips, 0);
  Report report =
      make_report_(program, micro_batches_of(program, spans, std::ssize(steps_) + skips));
  report.measured = forecast::measured_seconds(report.program, spans, steps_);
  report_.write(report_html(report));
  trace_.write(chrome_trace(report.program, spans));
  report_.commit();
  trace_.commit();
  is_written_ = true;
}

}  // namespace cloze::cli
