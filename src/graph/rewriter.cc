#include "graph/rewriter.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace cloze::graph {

Rewriter::Rewriter(Graph& graph)
    : graph_(graph),
      erased_(graph.nodes_.size(), false),
      producers_(graph.values_.size()),
      readers_(graph.values_.size()) {
  for (NodeId id = 0; id < num_nodes(); ++id) enter(id);
}

std::optional<NodeId> Rewriter::producer(Value value) const {
  const std::vector<NodeId>& producers = producers_[value.index];
  if (producers.empty()) return std::nullopt;
  return producers.back();
}

void Rewriter::replace(NodeId id, Node changed) {
  CLOZE_CHECK(!erased_[id], "node {} is erased already", id);
  leave(id);
  graph_.nodes_[id] = std::move(changed);
  enter(id);
}

void Rewriter::erase(NodeId id) {
  CLOZE_CHECK(!erased_[id], "node {} is erased already", id);
  leave(id);
  erased_[id] = true;
}

void Rewriter::insert_before(NodeId id, Node node) { insertions_.emplace(id, std::move(node)); }

Value Rewriter::like(Value value) { return graph_.new_intermediate(graph_.type(value)); }

void Rewriter::infer_types(NodeId id) {
  const Node& node = graph_.nodes_[id];
  const std::vector<TensorType> types =
      graph::infer_types(*node.op, graph_.types(node.inputs), node.attributes);
  for (size_t i = 0; i < node.outputs.size(); ++i) graph_.info(node.outputs[i]).type = types[i];
}

void Rewriter::finish() {
  std::vector<Node> kept;
  for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes_.size()); ++id) {
    const auto [begin, end] = insertions_.equal_range(id);
    for (auto insertion = begin; insertion != end; ++insertion) {
      kept.push_back(std::move(insertion->second));
    }
    const bool is_new = id >= num_nodes();
    if (is_new || !erased_[id]) kept.push_back(std::move(graph_.nodes_[id]));
  }
  graph_.nodes_ = std::move(kept);
}

void Rewriter::enter(NodeId id) {
  const auto insert = [id](std::vector<NodeId>& ids) {
    ids.insert(std::upper_bound(ids.begin(), ids.end(), id), id);
  };
  // The pass may have made new values.
  producers_.resize(graph_.values_.size());
  readers_.resize(graph_.values_.size());
  for (const Value input : node(id).inputs) insert(readers_[input.index]);
  for (const Value output : node(id).outputs) insert(producers_[output.index]);
}

void Rewriter::leave(NodeId id) {
  for (const Value input : node(id).inputs) std::erase(readers_[input.index], id);
  for (const Value output : node(id).outputs) std::erase(producers_[output.index], id);
}

}  // namespace cloze::graph
