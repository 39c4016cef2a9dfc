#include "ops/optimizer_update.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer_norm(std::span<const TensorType>, const std::any&) {
  return {kScalar};
}

std::vector<TensorType> infer_scale(std::span<const TensorType> in, const std::any&) {
  for (size_t input = 0; input < in.size(); ++input) {
    expect_type(kGradientScale, in, input, kScalar);
  }
  return {kScalar};
}

using Update = OptimizerUpdate;

bool is_half(DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16; }

const TensorType kTwoNorms{DType::kF32, {2}};

template <const graph::OpDefinition& op>
std::vector<TensorType> infer_update(std::span<const TensorType> in, const std::any&) {
  TensorType first_moment = in[Update::kParameter];
  if (is_half(in[Update::kM].dtype)) first_moment.dtype = in[Update::kM].dtype;
  expect_type(op, in, Update::kM, first_moment);
  for (const auto input : {Update::kV, Update::kGradient}) {
    expect_type(op, in, input, in[Update::kParameter]);
  }
  for (const auto input : {Update::kGradientScale, Update::kLearningRate, Update::kCheck}) {
    expect_type(op, in, input, kScalar);
  }
  expect_type(op, in, Update::kUpdateIndex, {DType::kI32, {1}});
  return {};
}

std::vector<TensorType> infer_norms(std::span<const TensorType> in, const std::any& attributes) {
  infer_update<kLambNorms>(in, attributes);
  return {kTwoNorms};
}

std::vector<TensorType> infer_move(std::span<const TensorType> in, const std::any& attributes) {
  for (size_t input = LambMove::kNorms; input < in.size(); ++input) {
    expect_type(kLambMove, in, input, kTwoNorms);
  }
  return infer_update<kLambMove>(in, attributes);
}

template <const graph::OpDefinition& op>
graph::OpDefinition update_by(std::string_view name) {
  return {.name = name,
          .inputs = {"parameter", "m", "v", "gradient", "gradient_scale", "learning_rate",
                     "update_index", "check"},
          .infer = infer_update<op>,
          .mutated_inputs = {Update::kParameter, Update::kM, Update::kV, Update::kCheck}};
}

graph::OpDefinition lamb_norms() {
  graph::OpDefinition op = update_by<kLambNorms>("lamb_norms");
  op.infer = infer_norms;
  op.mutated_inputs = {Update::kM, Update::kV, Update::kCheck};
  return op;
}

graph::OpDefinition lamb_move() {
  graph::OpDefinition op = update_by<kLambMove>("lamb_move");
  op.inputs.push_back("norms");
  op.repeats_last_input = true;
  op.infer = infer_move;
  op.mutated_inputs = {Update::kParameter, Update::kCheck};
  return op;
}

}  // namespace

const graph::OpDefinition kGlobalNorm{
    .name = "global_norm", .inputs = {"gradient"}, .repeats_last_input = true, .infer = infer_norm};
const graph::OpDefinition kGradientScale{.name = "gradient_scale",
                                         .inputs = {"norm", "loss_scale", "loss"},
                                         .optional_inputs = 1,
                                         .repeats_last_input = true,
                                         .infer = infer_scale};
const graph::OpDefinition kLamb = update_by<kLamb>("lamb");
const graph::OpDefinition kAdamW = update_by<kAdamW>("adamw");
const graph::OpDefinition kLambNorms = lamb_norms();
const graph::OpDefinition kLambMove = lamb_move();

}  // namespace cloze::ops
