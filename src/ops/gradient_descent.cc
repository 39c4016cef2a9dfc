#include "ops/gradient_descent.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

template <class Update>
void expect_step(const graph::OpDefinition& op, std::span<const TensorType> in) {
  expect_type(op, in, Update::kGradient, in[Update::kParameter]);
  for (const auto input : {Update::kGradientScale, Update::kLearningRate, Update::kCheck}) {
    expect_type(op, in, input, kScalar);
  }
  expect_type(op, in, Update::kUpdateIndex, {DType::kI32, {1}});
}

std::vector<TensorType> infer_sgd(std::span<const TensorType> in, const std::any&) {
  expect_step<Sgd>(kSgd, in);
  return {};
}

std::vector<TensorType> infer_momentum(std::span<const TensorType> in, const std::any&) {
  expect_step<Momentum>(kMomentum, in);
  expect_type(kMomentum, in, Momentum::kVelocity, in[Momentum::kParameter]);
  return {};
}

}  // namespace

const graph::OpDefinition kSgd{
    .name = "sgd",
    .inputs = {"parameter", "gradient", "gradient_scale", "learning_rate", "update_index", "check"},
    .infer = infer_sgd,
    .mutated_inputs = {Sgd::kParameter, Sgd::kCheck}};
const graph::OpDefinition kMomentum{
    .name = "momentum",
    .inputs = {"parameter", "velocity", "gradient", "gradient_scale", "learning_rate",
               "update_index", "check"},
    .infer = infer_momentum,
    .mutated_inputs = {Momentum::kParameter, Momentum::kVelocity, Momentum::kCheck}};

}  // namespace cloze::ops
