// The pictures of a report, each an <svg> element: memory over the program, launch by launch,
// stacked by kind; and the time of each operator in a step, estimated and measured.
#pragma once

#include <string>
#include <vector>

#include "forecast/step_seconds.h"
#include "plan/program_use.h"

namespace cloze::cli {

// A kind of memory: a layer of the stack.
struct MemoryBand {
  std::string name;
  std::string color;           // of CSS
  std::vector<int64_t> bytes;  // at each launch of ProgramUse::launches

  int64_t most() const;
};

// From the bottom up: what lives as long as the program by arena, activations by groups of layers,
// workspace. Kinds that take nothing are left out.
std::vector<MemoryBand> memory_bands(const plan::Program& program, const plan::ProgramUse& use);

std::string memory_picture(const plan::Program& program, const plan::ProgramUse& use,
                           const std::vector<MemoryBand>& bands);

// All launches of one operator in a step. Seconds are 0 where they were not estimated or measured.
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
// seconds mean that the step was not estimated, or not measured.
std::vector<OperatorTime> operator_times(const plan::ProgramUse& use, int64_t micro_batches,
                                         const forecast::StepSeconds& estimated,
                                         const forecast::StepSeconds& measured);

std::string time_picture(const std::vector<OperatorTime>& times);

}  // namespace cloze::cli
