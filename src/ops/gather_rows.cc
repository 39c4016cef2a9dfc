#include "ops/gather_rows.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  expect_inputs("gather_rows", in, 2, 2);
  return {{in[0].dtype, {in[1].shape[0], in[0].shape[1]}}};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any& attributes) {
  expect_inputs("scatter_rows", in, 2, 2);
  const int64_t rows = std::any_cast<const ScatterRowsAttributes&>(attributes).rows;
  return {{in[0].dtype, {rows, in[0].shape[1]}}};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const int64_t rows = graph.type(in[0]).shape[0];
  return {graph.add_one(kScatterRows, {request.output_gradients[0], in[1]},
                        ScatterRowsAttributes{rows}),
          {}};
}

}  // namespace

const graph::OpDefinition kGatherRows{
    .name = "gather_rows", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kScatterRows{.name = "scatter_rows", .infer = infer_gradient};

Value gather_rows(Graph& graph, Value x, Value index) {
  return graph.add_one(kGatherRows, {x, index});
}

}  // namespace cloze::ops
