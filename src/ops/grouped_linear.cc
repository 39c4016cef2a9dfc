#include "ops/grouped_linear.h"

#include "ops/product_rules.h"

namespace cloze::ops {
namespace {

void expect_blocks(const graph::OpDefinition& op, int64_t inputs, int64_t outputs, int64_t groups) {
  CLOZE_CHECK(groups > 0 && inputs % groups == 0 && outputs % groups == 0,
              "{}: {} groups of {} inputs and {} outputs", op.name, groups, inputs, outputs);
}

int64_t groups_of(const std::any& attributes) {
  return std::any_cast<const GroupedLinearAttributes&>(attributes).groups;
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  const TensorType& x = in[GroupedLinear::kX];
  const int64_t groups = groups_of(attributes);
  const int64_t outputs = in[GroupedLinear::kWeight].shape[0];
  expect_blocks(kGroupedLinear, x.shape[1], outputs, groups);
  expect_weight(kGroupedLinear, in, GroupedLinear::kWeight, x.dtype,
                {outputs, x.shape[1] / groups, 1});
  if (in.size() > GroupedLinear::kBias) {
    expect_type(kGroupedLinear, in, GroupedLinear::kBias, {DType::kF32, {outputs}});
  }
  return {{x.dtype, {x.shape[0], outputs}}};
}

std::vector<TensorType> infer_input_gradient(std::span<const TensorType> in,
                                             const std::any& attributes) {
  const TensorType& dy = in[GroupedLinearInputGradient::kDy];
  const int64_t groups = groups_of(attributes);
  const int64_t depth = in[GroupedLinearInputGradient::kWeight].shape[1];
  expect_blocks(kGroupedLinearInputGradient, groups * depth, dy.shape[1], groups);
  expect_weight(kGroupedLinearInputGradient, in, GroupedLinearInputGradient::kWeight, dy.dtype,
                {dy.shape[1], depth, 1});
  return {{dy.dtype, {dy.shape[0], groups * depth}}};
}

std::vector<TensorType> infer_weight_gradient(std::span<const TensorType> in,
                                              const std::any& attributes) {
  const auto& gradient = std::any_cast<const GroupedLinearWeightGradientAttributes&>(attributes);
  const TensorType& dy = in[GroupedLinearWeightGradient::kDy];
  const int64_t inputs = in[GroupedLinearWeightGradient::kX].shape[1];
  const int64_t outputs = dy.shape[1];
  expect_blocks(kGroupedLinearWeightGradient, inputs, outputs, gradient.groups);
  expect_type(kGroupedLinearWeightGradient, in, GroupedLinearWeightGradient::kX,
              {dy.dtype, {dy.shape[0], inputs}});
  return parameter_gradients({outputs, inputs / gradient.groups, 1}, gradient.has_bias);
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const int64_t groups = groups_of(request.node.attributes);
  return differentiate_product(
      graph, request,
      {.of_input = kGroupedLinearInputGradient,
       .input_attributes = GroupedLinearAttributes{groups},
       .of_weight = kGroupedLinearWeightGradient,
       .weight_attributes = GroupedLinearWeightGradientAttributes{groups, has_bias(request.node)}});
}

}  // namespace

const graph::OpDefinition kGroupedLinear{.name = "grouped_linear",
                                         .inputs = {"x", "weight", "bias"},
                                         .optional_inputs = 1,
                                         .weight_inputs = {GroupedLinear::kWeight},
                                         .infer = infer,
                                         .differentiate = differentiate,
                                         .flops = product_flops};
const graph::OpDefinition kGroupedLinearInputGradient{
    .name = "grouped_linear_input_gradient",
    .inputs = {"dy", "weight"},
    .weight_inputs = {GroupedLinearInputGradient::kWeight},
    .infer = infer_input_gradient,
    .flops = product_flops};
const graph::OpDefinition kGroupedLinearWeightGradient{
    .name = "grouped_linear_weight_gradient",
    .inputs = {"dy", "x"},
    .infer = infer_weight_gradient,
    .flops = weight_gradient_flops<infer_weight_gradient>,
    .accumulable_outputs = {GroupedLinearWeightGradient::kDweight,
                            GroupedLinearWeightGradient::kDbias}};

Value grouped_linear(Graph& graph, const GroupedLinearInputs& in) {
  const int64_t groups = graph.type(in.x).shape[1] / graph.type(in.weight).shape[1];
  std::vector<Value> inputs{in.x, in.weight};
  if (in.bias.valid()) inputs.push_back(in.bias);
  return graph.add_one(kGroupedLinear, std::move(inputs), GroupedLinearAttributes{groups});
}

}  // namespace cloze::ops
