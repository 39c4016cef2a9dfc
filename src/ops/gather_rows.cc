#include "ops/gather_rows.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any&) {
  const TensorType& x = in[GatherRows::kX];
  return {{x.dtype, {in[GatherRows::kIndex].shape[0], x.shape[1]}}};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any& attributes) {
  const int64_t rows = std::any_cast<const ScatterRowsAttributes&>(attributes).rows;
  const TensorType& dy = in[ScatterRows::kDy];
  return {{dy.dtype, {rows, dy.shape[1]}}};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const int64_t rows = graph.type(in[GatherRows::kX]).shape[0];
  return {graph.add_one(kScatterRows, {request.output_gradients[0], in[GatherRows::kIndex]},
                        ScatterRowsAttributes{rows}),
          {}};
}

}  // namespace

const graph::OpDefinition kGatherRows{.name = "gather_rows",
                                      .inputs = {"x", "index"},
                                      .infer = infer,
                                      .differentiate = differentiate};
const graph::OpDefinition kScatterRows{
    .name = "scatter_rows", .inputs = {"dy", "index"}, .infer = infer_gradient};

Value gather_rows(Graph& graph, Value x, Value index) {
  return graph.add_one(kGatherRows, {x, index});
}

}  // namespace cloze::ops
