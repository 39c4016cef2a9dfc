#include "ops/dropout.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const TensorType per_row{DType::kI32, {in[Dropout::kX].shape[0]}};
  expect_type(kDropout, in, Dropout::kSampleIds, per_row);
  expect_type(kDropout, in, Dropout::kPositionIds, per_row);
  expect_type(kDropout, in, Dropout::kRandomKey, {DType::kI32, {2}});
  return {in[Dropout::kX]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  std::vector<Value> inputs = request.node.inputs;
  inputs[Dropout::kX] = request.output_gradients[Dropout::kY];
  return {graph.add_one(kDropout, inputs, request.node.attributes), {}, {}, {}};
}

}  // namespace

const graph::OpDefinition kDropout{.name = "dropout",
                                   .inputs = {"x", "sample_ids", "position_ids", "random_key"},
                                   .infer = infer,
                                   .differentiate = differentiate};

Value dropout(Graph& graph, Value x, const RandomInputs& random, double rate) {
  if (rate == 0.0) return x;
  return graph.add_one(kDropout, {x, random.sample_ids, random.position_ids, random.random_key},
                       DropoutAttributes{rate, graph.next_random_site()});
}

}  // namespace cloze::ops
