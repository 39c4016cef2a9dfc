// The second picture of a report: the time of each operator in a step, estimated and measured.
#pragma once

#include <string>
#include <vector>

#include "cli/plan/step_seconds.h"

namespace cloze::cli {

// All launches of one operator in a step. Seconds are 0 where nobody estimated or measured.
struct OperatorTime {
  std::string name;
  int64_t calls = 0;
  double flops = 0.0;
  double bytes = 0.0;  // read and written
  double estimated = 0.0;
  double measured = 0.0;

  double seconds() const { return measured > 0.0 ? measured : estimated; }
};

// The one that takes longest first; what the host does between launches is one of them. Empty
// seconds are of a step that nobody estimated, or measured.
std::vector<OperatorTime> operator_times(const plan::ProgramUse& use, int64_t micro_batches,
                                         const StepSeconds& estimated, const StepSeconds& measured);

// An <svg> element.
std::string time_picture(const std::vector<OperatorTime>& times);

}  // namespace cloze::cli
