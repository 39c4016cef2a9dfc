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
using ops::PackWeightAttributes;

constexpr int kWeightInput = 1;

bool is_read(const Graph& graph, Value value) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
  });
}

bool is_output(const Graph& graph, Value value) {
  return std::ranges::count(graph.outputs(), value) > 0;
}

void replace_linear(Graph& graph, Node& node, Value packed, const PackWeightAttributes& packing) {
  const auto& linear = std::any_cast<const ops::LinearAttributes&>(node.attributes);
  if (linear.activation) {
    CLOZE_CHECK(!is_read(graph, node.outputs[1]), "{}: a backward pass reads what it keeps",
                node.name);
    node.outputs.pop_back();
    node.accumulates.pop_back();
  }
  const int64_t outputs = graph.type(node.inputs[kWeightInput]).shape[0];
  const bool is_bf16 =
      packing.layout == ops::WeightLayout::kPairs && !is_output(graph, node.outputs[0]);
  node.attributes = ops::PackedLinearAttributes{outputs, linear.activation,
                                                is_bf16 ? packing.dtype : DType::kF32};
  node.op = &ops::kPackedLinear;
  node.inputs[kWeightInput] = packed;
}

// Halves of smaller products take as long as what is added to lay them out.
bool repays_strassen(const Shape& weight, const PackWeightAttributes& packing) {
  constexpr int64_t kLeastSide = 512;
  return packing.layout == ops::WeightLayout::kStrassen && weight[0] >= kLeastSide &&
         weight[1] >= kLeastSide && ops::suits_strassen(weight, packing.panel_columns);
}

}  // namespace

void pack_weights(Graph& graph, const ops::PackWeightAttributes& packing) {
  if (packing.panel_columns == 0) return;
  PackWeightAttributes pack = packing;
  if (pack.layout == ops::WeightLayout::kStrassen) pack.layout = ops::WeightLayout::kPanels;
  ComputeCopies weights(graph, ops::kPackWeight, pack, "packed.");
  pack.layout = ops::WeightLayout::kStrassen;
  ComputeCopies strassen_weights(graph, ops::kPackWeight, pack, "packed.");
  const size_t num_nodes = graph.nodes().size();
  for (size_t i = 0; i < num_nodes; ++i) {
    const Node& node = graph.nodes()[i];
    if (node.op != &ops::kLinear || graph.type(node.inputs[0]).dtype != DType::kF32) continue;
    const Value weight = node.inputs[kWeightInput];
    const bool strassen = repays_strassen(graph.type(weight).shape, packing);
    const Value packed = (strassen ? strassen_weights : weights).of(weight);
    replace_linear(graph, graph.nodes()[i], packed, packing);
  }
}

}  // namespace cloze::passes
