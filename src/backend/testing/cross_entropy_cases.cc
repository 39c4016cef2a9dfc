// Each label is clearly right or clearly wrong: `correct` jumps where two logits are equal.
#include "ops/cross_entropy.h"

#include <algorithm>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

void add_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype) {
  const double normalizer = 1.0 / static_cast<double>(shape[0]);
  add_loss_and_gradient(cases,
                        {.name = "labels and one ignored",
                         .op = &ops::kCrossEntropy,
                         .inputs = {{dtype, shape}, {DType::kI32, {shape[0]}}, graph::kScalar},
                         .summed_terms = std::max(shape[0], shape[1])},
                        {.op = &ops::kCrossEntropyGradient, .summed_terms = shape[1]},
                        [normalizer](std::vector<Tensor>& in, size_t first, Random& random) {
                          using Op = ops::CrossEntropy;
                          fill_labels(in[first + Op::kLabels], in[first + Op::kLogits], random);
                          in[first + Op::kNormalizer].values = {normalizer};
                        });
}

}  // namespace

std::vector<KernelCase> cross_entropy_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const Shape& shape : {Shape{1, 2}, Shape{7, 3}, Shape{64, 2}, Shape{5, 33}}) {
    add_cases(cases, shape, dtype);
  }
  return cases;
}

std::vector<KernelCase> cross_entropy_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<Shape> shapes;
  for (const int64_t rows : extents.up_to(kSweptRows, {16, 32, 256})) shapes.push_back({rows, 6});
  for (const int64_t classes : extents.up_to(kSweptDepth, {16, 32, 256, 512})) {
    shapes.push_back({7, 1 + classes});
  }
  SweepCases sweep;
  sweep.add_each(shapes,
                 [&](auto& family, const Shape& shape) { add_cases(family, shape, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
