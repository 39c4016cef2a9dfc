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

// Whether two nodes are products of the same x with weights of one shape.
bool belong_together(const Graph& graph, const Node& a, const Node& b) {
  if (a.op != &ops::kPackedLinear || b.op != a.op || a.phase != b.phase) return false;
  const auto& of_a = std::any_cast<const ops::PackedLinearAttributes&>(a.attributes);
  const auto& of_b = std::any_cast<const ops::PackedLinearAttributes&>(b.attributes);
  const auto num_weights = static_cast<size_t>(of_a.num_weights);
  const bool both_or_none_biased = a.inputs.size() - 1 == num_weights * (b.inputs.size() - 1);
  return a.inputs[0] == b.inputs[0] && of_a.outputs == of_b.outputs &&
         of_a.activation == of_b.activation && both_or_none_biased &&
         graph.type(a.inputs[kWeightInput]) == graph.type(b.inputs[kWeightInput]);
}

void add_product(Node& to, const Node& node) {
  auto& attributes = std::any_cast<ops::PackedLinearAttributes&>(to.attributes);
  to.inputs.insert(to.inputs.begin() + kWeightInput + attributes.num_weights,
                   node.inputs[kWeightInput]);
  to.inputs.insert(to.inputs.end(), node.inputs.begin() + kWeightInput + 1, node.inputs.end());
  to.outputs.push_back(node.outputs[0]);
  to.accumulates.push_back(false);
  ++attributes.num_weights;
}

void join_products(Graph& graph) {
  std::vector<Node> joined;
  for (Node& node : graph.nodes()) {
    if (!joined.empty() && belong_together(graph, joined.back(), node)) {
      add_product(joined.back(), node);
    } else {
      joined.push_back(std::move(node));
    }
  }
  graph.nodes() = std::move(joined);
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
  if (packing.layout != ops::WeightLayout::kPairs) join_products(graph);
}

}  // namespace cloze::passes
