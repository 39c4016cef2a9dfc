#include "passes/recompute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/rewriter.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Rewriter;
using graph::Value;

// The nodes of a layer: those of its forward pass follow each other.
struct LayerNodes {
  NodeId forward_begin = 0, forward_end = 0;
  std::vector<NodeId> backward;
};

std::map<int32_t, LayerNodes> layers_of(const Rewriter& rewriter) {
  std::map<int32_t, LayerNodes> layers;
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    const int32_t layer = rewriter.node(id).layer;
    if (layer < 0) continue;
    LayerNodes& nodes = layers.try_emplace(layer, LayerNodes{id, id, {}}).first->second;
    if (id == nodes.forward_end) {
      ++nodes.forward_end;
    } else {
      nodes.backward.push_back(id);
    }
  }
  return layers;
}

class LayerRecomputation {
 public:
  LayerRecomputation(Rewriter& rewriter, const LayerNodes& nodes)
      : rewriter_(rewriter), nodes_(nodes) {}

  void run() {
    if (nodes_.backward.empty()) return;
    for (const NodeId id : nodes_.backward) {
      for (const Value input : rewriter_.node(id).inputs) want(input);
    }
    for (const NodeId id : again_) {
      Node node = rewriter_.node(id);
      take_copies(node.inputs);
      for (Value& output : node.outputs) output = copies_[output.index] = rewriter_.like(output);
      rewriter_.insert_before(nodes_.backward.front(), std::move(node));
    }
    for (const NodeId id : nodes_.backward) {
      Node node = rewriter_.node(id);
      take_copies(node.inputs);
      rewriter_.replace(id, std::move(node));
    }
  }

 private:
  bool is_forward(NodeId id) const { return id >= nodes_.forward_begin && id < nodes_.forward_end; }

  // A node whose output is read outside the layer is kept.
  bool is_kept(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](Value output) {
      return std::ranges::any_of(rewriter_.readers(output), [&](NodeId reader) {
        return rewriter_.node(reader).layer != node.layer;
      });
    });
  }

  void want(Value value) {
    const std::optional<NodeId> producer = rewriter_.producer(value);
    if (!producer || !is_forward(*producer) || again_.contains(*producer)) return;
    const Node& node = rewriter_.node(*producer);
    if (is_kept(node)) return;
    again_.insert(*producer);
    for (const Value input : node.inputs) want(input);
  }

  void take_copies(std::vector<Value>& values) const {
    for (Value& value : values) {
      const auto copy = copies_.find(value.index);
      if (copy != copies_.end()) value = copy->second;
    }
  }

  Rewriter& rewriter_;
  const LayerNodes& nodes_;
  std::set<NodeId> again_;                     // in the order they run in
  std::unordered_map<int32_t, Value> copies_;  // by the value of the forward pass
};

}  // namespace

void recompute_layers(Graph& graph) {
  Rewriter rewriter(graph);
  for (const auto& [layer, nodes] : layers_of(rewriter)) LayerRecomputation(rewriter, nodes).run();
  rewriter.finish();
}

}  // namespace cloze::passes
