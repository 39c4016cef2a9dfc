#include "ops/squared_error.h"

#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

void add_cases(std::vector<KernelCase>& cases, int64_t sequences, DType dtype) {
  add_loss_and_gradient(
      cases,
      {.name = "targets and one ignored",
       .op = &ops::kSquaredError,
       .inputs = {{dtype, {sequences, 1}}, {DType::kF32, {sequences}}, graph::kScalar},
       .summed_terms = sequences},
      {.op = &ops::kSquaredErrorGradient},
      [sequences](std::vector<Tensor>& in, size_t first, Random&) {
        using Op = ops::SquaredError;
        if (sequences > 1) in[first + Op::kTargets].values.back() = std::nan("");
        in[first + Op::kNormalizer].values = {1.0 / static_cast<double>(sequences)};
      });
}

}  // namespace

std::vector<KernelCase> squared_error_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const int64_t sequences : {1, 6}) add_cases(cases, sequences, dtype);
  return cases;
}

std::vector<KernelCase> squared_error_sweep(DType dtype, const SweepExtents& extents) {
  SweepCases sweep;
  sweep.add_each(extents.up_to(kSweptRows, {16, 32, 256}),
                 [&](auto& family, int64_t sequences) { add_cases(family, sequences, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
