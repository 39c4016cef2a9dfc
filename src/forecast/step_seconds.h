// The time of a training step, launch by launch: estimated from a device's rates, or measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "forecast/device_rates.h"
#include "plan/program_use.h"
#include "runtime/executor.h"

namespace cloze::forecast {

struct StepSeconds {
  std::vector<double> calls;  // of one call of each launch, as ProgramUse::launches
  double host = 0.0;          // of a step, between its launches
  std::string source;         // "measured: medians of 5 steps"

  double of_step(const plan::ProgramUse& use, int64_t micro_batches) const;
};

// Counts how often a step of so many micro-batches runs it.
int64_t calls_in_step(const plan::LaunchUse& use, int64_t micro_batches);

// UserError when the rates say nothing of products in the program's dtype.
StepSeconds estimated_seconds(const plan::Program& program, const plan::ProgramUse& use,
                              const DeviceRates& rates);

// Says whether it is a launch of the program or of a copy of it: a pipeline has a copy for each
// micro-batch under way. Other programs of the run have inputs of another size.
bool is_of(const runtime::LaunchSpan& span, const plan::Program& program);

// Reads the times off the spans of whole steps, which took `steps` seconds each. Medians: a
// neighbour on the machine makes some of them slow. Micro-batches of another program count only
// towards the time of their step.
StepSeconds measured_seconds(const plan::Program& program,
                             std::span<const runtime::LaunchSpan> spans,
                             const std::vector<double>& steps);

}  // namespace cloze::forecast
