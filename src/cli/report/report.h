// A plan, or a profiled run, as one page of HTML that needs nothing from elsewhere: memory over the
// program and time per operator as pictures, tables of kinds, of what is alive at the peak, of
// operators and of every launch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "forecast/step_seconds.h"
#include "plan/program_use.h"
#include "train/training_graph.h"

namespace cloze::cli {

struct Report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value: the head of the page
  const plan::Program& program;
  plan::ProgramUse use;             // of the program
  int64_t micro_batches = 1;        // in a step
  forecast::StepSeconds estimated;  // without calls: not estimated
  forecast::StepSeconds measured;   // without calls: not measured
};

// The work of a step.
struct StepSize {
  int64_t sequences = 0;
  int64_t seq_length = 0;
  int64_t micro_batches = 0;
};

// On a training step, without times. `memory` is a forecast's text. The program has to outlive the
// report.
Report training_report(const train::TrainingStepOptions& step, const StepSize& size,
                       const plan::Program& program, const std::string& memory);

std::string report_html(const Report& report);

}  // namespace cloze::cli
