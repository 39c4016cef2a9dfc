// KernelCase: an operator on one set of types, with inputs; and the list of all cases.
// The cases of a family of operators are in FAMILY_cases.cc (backend/operator_families.h).
#pragma once

#include <any>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/kernel.h"
#include "backend/testing/tensor.h"

namespace cloze::backend::testing {

struct KernelCase {
  std::string name;  // what is special about it; also the seed of its random numbers
  const graph::OpDefinition* op = nullptr;
  std::any attributes;
  std::vector<graph::TensorType> inputs;
  // Changes the inputs after all have been filled: floating ones with normal numbers, integer ones
  // with 0. Null: nothing to change.
  std::function<void(std::vector<Tensor>& inputs, Random& random)> prepare;
  int64_t summed_terms = 1;  // the longest sum behind one result: K of the tolerance
  // Results (outputs, then mutated inputs) computed through intermediate results that a kernel may
  // store in the dtype of the activations.
  std::vector<size_t> through_storage;
  double absolute_error = 0.0;  // what the operator may be off by besides rounding (tolerance.h)
  // Why most of the expected values may be zero; empty: they may not.
  std::string why_zeros;
};

// One line that identifies the case: operator, types, name.
std::string describe(const KernelCase& kernel_case);
KernelRequest request_of(const KernelCase& kernel_case);
// The dtype of the activations.
DType storage_of(const KernelRequest& request);
// Weights have values of the dtype of the activations, to which they count as rounded.
std::vector<Tensor> make_inputs(const KernelCase& kernel_case);

// The dtypes of activations: f32, bf16, f16.
std::span<const DType> storage_dtypes();

// Cases of every operator with activations, or first moments, of one of these dtypes. Operators
// with neither have cases for f32 only.
std::vector<KernelCase> kernel_cases(DType dtype);
// The cases of one operator, for all of these dtypes.
std::vector<KernelCase> kernel_cases(const graph::OpDefinition& op);

}  // namespace cloze::backend::testing
