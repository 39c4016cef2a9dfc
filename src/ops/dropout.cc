#include "ops/dropout.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("dropout", in, 4, 4);
  const TensorType per_row{DType::kI32, {in[0].shape[0]}};
  expect_type("dropout", "sample_ids", in[1], per_row);
  expect_type("dropout", "position_ids", in[2], per_row);
  expect_type("dropout", "random_key", in[3], {DType::kI32, {2}});
  return {in[0]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const Value dx = graph.add_one(kDropout, {request.output_gradients[0], in[1], in[2], in[3]},
                                 request.node.attributes);
  return {dx, {}, {}, {}};
}

}  // namespace

const graph::OpDefinition kDropout{
    .name = "dropout", .infer = infer, .differentiate = differentiate};

Value dropout(Graph& graph, Value x, const RandomInputs& random, double rate) {
  if (rate == 0.0) return x;
  return graph.add_one(kDropout, {x, random.sample_ids, random.position_ids, random.random_key},
                       DropoutAttributes{rate, graph.next_random_site()});
}

}  // namespace cloze::ops
