#include "ops/stochastic_rounding.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_type(kStochasticRounding, in, StochasticRounding::kGradientScale, kScalar);
  expect_type(kStochasticRounding, in, StochasticRounding::kRandomKey, {DType::kI32, {2}});
  return {};
}

}  // namespace

const graph::OpDefinition kStochasticRounding{
    .name = "stochastic_rounding",
    .inputs = {"parameter", "gradient_scale", "random_key"},
    .infer = infer,
    .mutated_inputs = {StochasticRounding::kParameter}};

}  // namespace cloze::ops
