// Runs one kernel on tensors, with guard bytes around everything it is given.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/kernel.h"
#include "backend/testing/tensor.h"

namespace cloze::backend::testing {

struct KernelOutcome {
  // The outputs, and after them the inputs that the operator mutates.
  std::vector<Tensor> results;
  std::vector<std::string> results_bytes;  // the same, as stored
  // Broken promises: guard bytes or inputs overwritten.
  std::vector<std::string> violations;
};

// Where kernels run from now on, in this process: in the memory of a device, guards and all. Null, as
// it is at first: in the host's. The reference in double stays there.
void set_device(Device* device);
// Returns the target that kernels are made for there.
std::shared_ptr<const Target> make_target(const TargetOptions& options);

// Outputs that accumulate start as initial_outputs says; the others, and the workspace, start as
// NaN, so that a missing write or an early read shows.
KernelOutcome run_kernel(Kernel& kernel, const KernelRequest& request,
                         const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& initial_outputs);

// The types of what run_kernel returns.
std::vector<graph::TensorType> result_types(const KernelRequest& request);

// The same request with every floating tensor in f64.
KernelRequest in_double(KernelRequest request);

// The exact answer: the reference kernel on the same numbers in double.
std::vector<Tensor> run_reference_in_double(const KernelRequest& request,
                                            const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& initial_outputs);

// One operator on its inputs in double: types from its shape rule, nothing accumulated. The results
// have those types, but their numbers are not rounded to them.
std::vector<Tensor> apply_in_double(const graph::OpDefinition& op, const std::any& attributes,
                                    const std::vector<Tensor>& inputs);

}  // namespace cloze::backend::testing
