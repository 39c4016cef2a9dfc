// Checks the kernels of a backend against the reference.
//
// It checks for each case: results within the computed tolerance of the reference in double, from
// the same rounded inputs; written and accumulated outputs; guard bytes, inputs and workspace left
// alone; the same bytes when run again, and with one thread as with several; no InternalError. A comparison that
// could not fail (almost all expected values zero, or a bound too wide to mean anything) is itself
// a failure, MISTRUSTED.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "backend/testing/kernel_case.h"

namespace cloze::backend::testing {

struct CaseReport {
  std::optional<std::string> refusal;  // why the entry does not serve the case
  std::vector<std::string> failures;   // one line each, naming the kernel and the case
};

// A failure counts only if it persists with many probes of the scale, here and in a sweep.
CaseReport run_case(const KernelEntry& entry, const KernelCase& kernel_case);

// The same for one of very many cases: fewer probes, one way to accumulate, no second run, and
// nothing is MISTRUSTED, as the smallest sizes always would be. `threads`: with how many, in turn.
CaseReport sweep_case(const KernelEntry& entry, const KernelCase& kernel_case,
                      const std::vector<int>& threads = {1, 3});

// Runs every entry of the backend's table for the operator on every case it serves. Returns the
// failures, one per line; empty when all is well. A table that serves no case is a failure, and so
// is an operator without cases.
std::string check_operator(const Backend& backend, const graph::OpDefinition& op);

}  // namespace cloze::backend::testing
