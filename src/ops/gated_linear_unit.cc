#include "ops/gated_linear_unit.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const TensorType& x = in[GatedLinearUnit::kX];
  CLOZE_CHECK(x.shape.rank() == 2 && x.shape[1] % 2 == 0,
              "gated_linear_unit: {} has no halves of gates and values", x.to_string());
  return {{x.dtype, {x.shape[0], x.shape[1] / 2}}};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any& attributes) {
  const TensorType& x = in[GatedLinearUnitGradient::kX];
  expect_type(kGatedLinearUnitGradient, in, GatedLinearUnitGradient::kDy,
              infer({&x, 1}, attributes)[0]);
  return {x};
}

}  // namespace

const graph::OpDefinition kGatedLinearUnit{
    .name = "gated_linear_unit",
    .inputs = {"x"},
    .infer = infer,
    .differentiate = differentiate_by_input<kGatedLinearUnitGradient>};
const graph::OpDefinition kGatedLinearUnitGradient{
    .name = "gated_linear_unit_gradient", .inputs = {"dy", "x"}, .infer = infer_gradient};

Value gated_linear_unit(Graph& graph, Value x) { return graph.add_one(kGatedLinearUnit, {x}); }

}  // namespace cloze::ops
