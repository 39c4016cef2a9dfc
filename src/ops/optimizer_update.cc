#include "ops/optimizer_update.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer_norm(std::span<const TensorType> in, const std::any&) {
  CLOZE_CHECK(!in.empty(), "global_norm needs a gradient");
  return {kScalar};
}

std::vector<TensorType> infer_scale(std::span<const TensorType> in, const std::any&) {
  CLOZE_CHECK(!in.empty(), "gradient_scale needs a norm");
  for (const TensorType& type : in) expect_type("gradient_scale", "norm or loss", type, kScalar);
  return {kScalar};
}

std::vector<TensorType> infer_update(std::span<const TensorType> in, const std::any&) {
  expect_inputs("optimizer update", in, 8, 8);
  for (const int i : {1, 2, 3}) expect_type("optimizer update", "state", in[i], in[0]);
  expect_type("optimizer update", "gradient_scale", in[4], kScalar);
  expect_type("optimizer update", "learning_rate", in[5], kScalar);
  expect_type("optimizer update", "update_index", in[6], {DType::kI32, {1}});
  expect_type("optimizer update", "check", in[7], kScalar);
  return {};
}

}  // namespace

const graph::OpDefinition kGlobalNorm{.name = "global_norm", .infer = infer_norm};
const graph::OpDefinition kGradientScale{.name = "gradient_scale", .infer = infer_scale};
const graph::OpDefinition kLamb{
    .name = "lamb", .infer = infer_update, .mutated_inputs = {0, 1, 2, 7}};
const graph::OpDefinition kAdamW{
    .name = "adamw", .infer = infer_update, .mutated_inputs = {0, 1, 2, 7}};

}  // namespace cloze::ops
