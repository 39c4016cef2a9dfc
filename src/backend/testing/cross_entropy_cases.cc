// Each label is clearly right or clearly wrong: `correct` jumps where two logits are equal.
#include "ops/cross_entropy.h"

#include <algorithm>
#include <utility>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

struct Variant {
  const char* name;
  double label_smoothing = 0.0;
  bool has_weights = false;
};
constexpr Variant kVariants[] = {{"labels and one ignored"},
                                 {"smoothed", 0.1},
                                 {"class weights", 0.0, true},
                                 {"smoothed, with class weights", 0.25, true}};

void fill(std::vector<Tensor>& in, size_t first, Random& random) {
  using Op = ops::CrossEntropy;
  fill_labels(in[first + Op::kLabels], in[first + Op::kLogits], random);
  in[first + Op::kNormalizer].values = {1.0 /
                                        static_cast<double>(in[first + Op::kLogits].type.shape[0])};
  if (in.size() <= first + Op::kClassWeights) return;
  for (double& weight : in[first + Op::kClassWeights].values) weight = random.uniform(0.25, 4.0);
}

void add_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype,
               const Variant& variant) {
  const ops::CrossEntropyAttributes attributes{variant.label_smoothing};
  KernelCase loss{.name = variant.name,
                  .op = &ops::kCrossEntropy,
                  .attributes = attributes,
                  .inputs = {{dtype, shape}, {DType::kI32, {shape[0]}}, graph::kScalar},
                  .summed_terms = std::max(shape[0], shape[1])};
  if (variant.has_weights) loss.inputs.push_back({DType::kF32, {shape[1]}});
  add_loss_and_gradient(
      cases, std::move(loss),
      {.op = &ops::kCrossEntropyGradient, .attributes = attributes, .summed_terms = shape[1]},
      fill);
}

}  // namespace

std::vector<KernelCase> cross_entropy_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const Shape& shape : {Shape{1, 2}, Shape{7, 3}, Shape{64, 2}, Shape{5, 33}}) {
    for (const Variant& variant : kVariants) add_cases(cases, shape, dtype, variant);
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
  for (const Variant& variant : kVariants) {
    sweep.add_each(shapes, [&](auto& family, const Shape& shape) {
      add_cases(family, shape, dtype, variant);
    });
  }
  return sweep.take();
}

}  // namespace cloze::backend::testing
