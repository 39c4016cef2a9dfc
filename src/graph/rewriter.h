// Rewriter: how a pass changes the nodes of a graph.
//
//   Rewriter rewriter(graph);
//   for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
//     Node changed = rewriter.node(id);
//     ...
//     rewriter.replace(id, std::move(changed));
//   }
//   rewriter.finish();
//
// Nodes keep their numbers, and with them their order, until finish(). Nodes that the pass adds to
// the graph in the meantime follow them and have no number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace cloze::graph {

using NodeId = int32_t;

class Rewriter {
 public:
  explicit Rewriter(Graph& graph);

  NodeId num_nodes() const { return static_cast<NodeId>(erased_.size()); }
  const Node& node(NodeId id) const { return graph_.nodes_[id]; }

  // The last node that writes the value; none for inputs and for variables nobody writes.
  std::optional<NodeId> producer(Value value) const;
  // The nodes that read the value. A node appears once for each of its inputs that is this value.
  const std::vector<NodeId>& readers(Value value) const { return readers_[value.index]; }

  void replace(NodeId id, Node changed);
  // The new node has no number. Those before the same node run in the order they were inserted in.
  void insert_before(NodeId id, Node node);
  // A new intermediate of the value's type.
  Value like(Value value);
  void erase(NodeId id);
  // Gives the outputs of a node the types that its operator's rule derives from its inputs.
  void infer_types(NodeId id);

  // Takes the erased nodes out. Call it last. It verifies nothing: a pass may leave types that only
  // the next one mends (pack_weights.h).
  void finish();

 private:
  void enter(NodeId id);
  void leave(NodeId id);

  Graph& graph_;
  std::vector<bool> erased_;                    // by node
  std::multimap<NodeId, Node> insertions_;      // by the node that follows
  std::vector<std::vector<NodeId>> producers_;  // by value, in their order
  std::vector<std::vector<NodeId>> readers_;    // by value, in their order
};

}  // namespace cloze::graph
