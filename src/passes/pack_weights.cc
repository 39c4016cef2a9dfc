#include "passes/pack_weights.h"

#include <algorithm>

#include "base/error.h"
#include "ops/linear.h"
#include "ops/packed_linear.h"
#include "passes/compute_copies.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

constexpr int kWeightInput = 1;

bool is_read(const Graph& graph, Value value) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
  });
}

void replace_linear(Graph& graph, Node& node, Value packed) {
  const auto& linear = std::any_cast<const ops::LinearAttributes&>(node.attributes);
  if (linear.activation) {
    CLOZE_CHECK(!is_read(graph, node.outputs[1]), "{}: a backward pass reads what it keeps",
                node.name);
    node.outputs.pop_back();
    node.accumulates.pop_back();
  }
  const int64_t outputs = graph.type(node.inputs[kWeightInput]).shape[0];
  node.attributes = ops::PackedLinearAttributes{outputs, linear.activation};
  node.op = &ops::kPackedLinear;
  node.inputs[kWeightInput] = packed;
}

}  // namespace

void pack_weights(Graph& graph, const WeightPacking& packing) {
  if (packing.panel_columns == 0) return;
  ComputeCopies weights(graph, ops::kPackWeight,
                        ops::PackWeightAttributes{packing.panel_columns, packing.dtype}, "packed.");
  const size_t num_nodes = graph.nodes().size();
  for (size_t i = 0; i < num_nodes; ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != &ops::kLinear || graph.type(node.inputs[0]).dtype != DType::kF32) continue;
    const Value packed = weights.of(node.inputs[kWeightInput]);
    replace_linear(graph, graph.nodes()[i], packed);
  }
}

}  // namespace cloze::passes
