#include "ops/binary_cross_entropy.h"

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

struct LabelSizes {
  Shape logits;
  int64_t labels = 0;
};

void add_cases(std::vector<KernelCase>& cases, const LabelSizes& sizes, DType dtype) {
  add_loss_and_gradient(
      cases,
      {.name = "yes, no and one ignored",
       .op = &ops::kBinaryCrossEntropy,
       .inputs = {{dtype, sizes.logits}, {DType::kI32, {sizes.labels}}, graph::kScalar},
       .summed_terms = sizes.labels},
      {.op = &ops::kBinaryCrossEntropyGradient,
       .summed_terms = 1,
       .why_zeros = "logits without a label"},
      [labels = sizes.labels](std::vector<Tensor>& in, size_t first, Random& random) {
        using Op = ops::BinaryCrossEntropy;
        fill_below(in[first + Op::kLabels], random, 2);
        const bool is_yes = in[first + Op::kLogits].values[0] > 0.0;
        in[first + Op::kLabels].values[0] = is_yes ? 1.0 : 0.0;  // one decision is right
        if (labels > 3) in[first + Op::kLabels].values[1] = -1.0;
        in[first + Op::kNormalizer].values = {1.0 / static_cast<double>(labels)};
      });
}

}  // namespace

std::vector<KernelCase> binary_cross_entropy_cases(DType dtype) {
  std::vector<KernelCase> cases;
  add_cases(cases, {{1, 1}, 1}, dtype);
  add_cases(cases, {{4, 5}, 20}, dtype);
  add_cases(cases, {{6, 3}, 12}, dtype);  // places for two more sequences
  return cases;
}

std::vector<KernelCase> binary_cross_entropy_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<LabelSizes> sizes;
  for (const int64_t rows : extents.up_to(kSweptRows, {16, 32, 256})) {
    sizes.push_back({{rows, 3}, 3 * rows});
    sizes.push_back({{2, rows}, rows});
  }
  SweepCases sweep;
  sweep.add_each(sizes,
                 [&](auto& family, const LabelSizes& one) { add_cases(family, one, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
