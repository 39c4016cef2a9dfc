#include "passes/pack_weights.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "graph/rewriter.h"
#include "ops/linear.h"
#include "ops/packed_linear.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Rewriter;
using graph::Value;
using ops::Linear;
using ops::PackedLinear;

// The packed copies that a program reads in place of weights. The refresh phase makes them from the
// weights whenever parameters have changed. Each weight has one, however many nodes read it.
class PackedWeights {
 public:
  PackedWeights(Graph& graph, const ops::PackWeightAttributes& packing)
      : graph_(graph), packing_(packing) {}

  Value of(Value weight) {
    const auto [packed, is_new] = packed_.try_emplace(weight.index);
    if (!is_new) return packed->second;
    packed->second = graph_.add_variable(
        {.name = "packed." + graph_.info(weight).name,
         .type = graph::infer_types(ops::kPackWeight, graph_.types({weight}), packing_)[0],
         .role = graph::VariableRole::kComputeCopy,
         .master = weight});
    const auto refresh = graph_.phase_scope(graph::kRefresh);
    graph_.add_into(ops::kPackWeight, {weight}, packing_, {{packed->second, false}});
    return packed->second;
  }

 private:
  Graph& graph_;
  ops::PackWeightAttributes packing_;
  std::unordered_map<int32_t, Value> packed_;
};

bool reads(const Graph& graph, const Node& node, DType dtype) {
  return std::ranges::any_of(node.inputs,
                             [&](Value input) { return graph.type(input).dtype == dtype; });
}

bool is_output(const Graph& graph, Value value) {
  return std::ranges::count(graph.outputs(), value) > 0;
}

// The node `linear` with its weight packed.
Node packed_linear(const Rewriter& rewriter, const Graph& graph, Node linear, Value packed,
                   const WeightPacking& packing) {
  const auto activation = std::any_cast<const ops::LinearAttributes&>(linear.attributes).activation;
  if (activation) {
    CLOZE_CHECK(rewriter.readers(linear.outputs[Linear::kU]).empty(),
                "{}: a backward pass reads what it keeps", linear.name());
    linear.outputs.pop_back();
    linear.accumulates.pop_back();
  }
  const int64_t outputs = graph.type(linear.inputs[Linear::kWeight]).shape[0];
  const bool is_narrow = packing.is_of_activations && !is_output(graph, linear.outputs[Linear::kY]);
  linear.attributes = ops::PackedLinearAttributes{.outputs = outputs,
                                                  .layout = packing.layout,
                                                  .activation = activation,
                                                  .dtype = is_narrow ? packing.dtype : DType::kF32};
  linear.op = &ops::kPackedLinear;
  linear.inputs[PackedLinear::kPacked] = packed;
  return linear;
}

// Says whether two nodes are products of the same x with weights of one shape.
bool belong_together(const Graph& graph, const Node& a, const Node& b) {
  if (a.op != &ops::kPackedLinear || b.op != a.op || a.phase != b.phase) return false;
  const auto& of_a = std::any_cast<const ops::PackedLinearAttributes&>(a.attributes);
  const auto& of_b = std::any_cast<const ops::PackedLinearAttributes&>(b.attributes);
  const auto num_weights = static_cast<size_t>(of_a.num_weights);
  const bool both_or_none_biased = a.inputs.size() - 1 == num_weights * (b.inputs.size() - 1);
  return a.inputs[PackedLinear::kX] == b.inputs[PackedLinear::kX] && of_a.outputs == of_b.outputs &&
         of_a.activation == of_b.activation && both_or_none_biased &&
         graph.type(a.inputs[PackedLinear::kPacked]) == graph.type(b.inputs[PackedLinear::kPacked]);
}

void add_product(Node& to, const Node& node) {
  auto& attributes = std::any_cast<ops::PackedLinearAttributes&>(to.attributes);
  const auto packed = node.inputs.begin() + PackedLinear::kPacked;
  to.inputs.insert(to.inputs.begin() + PackedLinear::kPacked + attributes.num_weights, *packed);
  to.inputs.insert(to.inputs.end(), packed + 1, node.inputs.end());
  to.outputs.push_back(node.outputs[PackedLinear::kY]);
  to.accumulates.push_back(false);
  ++attributes.num_weights;
}

void join_products(Graph& graph) {
  Rewriter rewriter(graph);
  NodeId first = 0;
  for (NodeId id = 1; id < rewriter.num_nodes(); ++id) {
    if (!belong_together(graph, rewriter.node(first), rewriter.node(id))) {
      first = id;
      continue;
    }
    Node joined = rewriter.node(first);
    add_product(joined, rewriter.node(id));
    rewriter.erase(id);
    rewriter.replace(first, std::move(joined));
  }
  rewriter.finish();
}

}  // namespace

void pack_weights(Graph& graph, const WeightPacking& packing) {
  PackedWeights weights(graph, {.layout = packing.layout, .dtype = packing.dtype});
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    const Node node = rewriter.node(id);
    if (node.op != &ops::kLinear || graph.type(node.inputs[Linear::kX]).dtype != DType::kF32)
      continue;
    const Value packed = weights.of(node.inputs[Linear::kWeight]);
    rewriter.replace(id, packed_linear(rewriter, graph, node, packed, packing));
  }
  rewriter.finish();
  if (packing.joins_products) join_products(graph);
}

void round_weights(Graph& graph, DType activations) {
  PackedWeights copies(graph, {.layout = {.columns = 1}, .dtype = activations});
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    Node node = rewriter.node(id);
    if (node.op->weight_inputs.empty() || !reads(graph, node, activations)) continue;
    for (const int input : node.op->weight_inputs) {
      Value& weight = node.inputs[static_cast<size_t>(input)];
      weight = copies.of(weight);
    }
    rewriter.replace(id, std::move(node));
  }
  rewriter.finish();
}

}  // namespace cloze::passes
