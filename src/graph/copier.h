// Copier: makes a graph of some of the nodes of another.
//
//   Copier copier(whole);
//   for (const Node& node : whole.nodes()) {
//     if (is_wanted(node)) copier.copy(node);
//   }
//   Graph part = std::move(copier).finish();
//
// Names, places and phases are those of the first graph, and so are the results that were marked.
#pragma once

#include <unordered_map>

#include "graph/graph.h"

namespace cloze::graph {

class Copier {
 public:
  explicit Copier(const Graph& from) : from_(from) {}

  Graph& graph() { return to_; }
  bool has(Value value) const { return copies_.contains(value.index); }
  // In the copy, nodes that read `value` read `stand_in` instead.
  void replace(Value value, Value stand_in) { copies_[value.index] = stand_in; }
  // The value in the copy. Inputs and variables may be copied before the nodes that use them, which
  // decides their order; a variable brings its master.
  Value copy(Value value);
  void copy(const Node& node);

  // Verifies the copy: InternalError when a node reads what no copied node makes.
  Graph finish() &&;

 private:
  std::vector<Value> copy(const std::vector<Value>& values);

  const Graph& from_;
  Graph to_;
  std::unordered_map<int32_t, Value> copies_;
};

}  // namespace cloze::graph
