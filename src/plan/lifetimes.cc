#include "plan/lifetimes.h"

namespace cloze::plan {

using graph::Node;
using graph::Value;
using graph::ValueKind;

std::vector<std::optional<Lifetime>> lifetimes_of(const graph::Graph& graph, graph::Phase phase) {
  std::vector<std::optional<Lifetime>> by_value(graph.num_values());
  int64_t launch = 0;
  for (const Node& node : graph.nodes()) {
    if (node.phase != phase) continue;
    for (const Value value : node.outputs) {
      if (graph.info(value).kind != ValueKind::kIntermediate) continue;
      if (!by_value[value.index])
        by_value[value.index] = {graph.type(value).bytes(), launch, launch};
    }
    for (const std::vector<Value>& values : {node.inputs, node.outputs}) {
      for (const Value value : values) {
        if (by_value[value.index]) by_value[value.index]->last = launch;
      }
    }
    ++launch;
  }
  for (const Value output : graph.outputs()) {
    if (by_value[output.index]) by_value[output.index]->last = launch;
  }
  return by_value;
}

}  // namespace cloze::plan
