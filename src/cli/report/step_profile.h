// Profiles a few steps of a run once it is warm, and writes FILE.html, the report of the plan with
// measured times, and FILE.trace.json, the steps for chrome://tracing. The report is of the largest
// micro-batch that these steps had; the trace has all. Of a run that ends before it is warm, the
// first steps are profiled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/report/report.h"
#include "engine/session.h"
#include "platform/files/atomic_file.h"
#include "train/metrics/metrics.h"

namespace cloze::cli {

// Launches over time as chrome://tracing and ui.perfetto.dev read them: one event per span; the
// phases are rows of their own.
// Source: the Trace Event Format, JSON object form, complete events ("ph": "X"), microseconds.
std::string chrome_trace(const plan::Program& program, std::span<const runtime::LaunchSpan> spans);

class StepProfile {
 public:
  static constexpr int kWarmUpSteps = 2;
  static constexpr int kSteps = 5;

  // Of a program of the session or of one beside it; lacks the measured times.
  using MakeReport = std::function<Report(const plan::Program& program, int64_t micro_batches)>;

  // Opens both files. UserError when the path cannot be written to.
  StepProfile(engine::Session& session, MakeReport make_report, const std::filesystem::path& path);

  // Called after each step. EnvironmentError when a file cannot be written.
  void add(const train::StepMetrics& metrics);
  // The run has ended: writes what there is of a run with fewer steps. Returns a line on it.
  std::string outcome();

  static std::filesystem::path trace_path(std::filesystem::path report) {
    return report.replace_extension(".trace.json");
  }

 private:
  // Where what is measured begins.
  struct Begin {
    size_t first_span = 0;
    int64_t skips = 0;
  };

  bool is_cold() const { return num_steps_ <= kWarmUpSteps; }
  void finish();

  runtime::Executor& executor_;
  MakeReport make_report_;
  platform::AtomicFile report_;
  platform::AtomicFile trace_;
  int num_steps_ = 0;
  Begin warm_;                 // of the steps after kWarmUpSteps
  int64_t skips_before_ = 0;   // steps of the run that were skipped before the first
  int64_t skips_ = 0;          // and with them: the launches of these are among the spans
  size_t num_spans_ = 0;       // of the steps; what runs after them does not count
  std::vector<double> steps_;  // seconds, without waiting for data
  bool is_written_ = false;
};

}  // namespace cloze::cli
