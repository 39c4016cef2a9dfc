#include "passes/freeze.h"

#include "base/error.h"
#include "graph/copier.h"

namespace cloze::passes {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;

namespace {

// Variables become parameters.
void freeze(graph::Copier& copier, const ValueInfo& info, Value value) {
  if (info.kind == ValueKind::kInput || copier.has(value)) return;
  CLOZE_CHECK(info.kind == ValueKind::kVariable, "{} is read before it is made", info.name);
  copier.replace(value, copier.graph().add_variable({.name = info.name, .type = info.type}));
}

}  // namespace

Graph frozen(const Graph& graph) {
  graph::Copier copier(graph);
  for (const Value input : graph.inputs()) copier.copy(input);
  for (const Node* node : graph.nodes_of(graph::kMicroStep)) {
    for (const Value input : node->inputs) freeze(copier, graph.info(input), input);
    copier.copy(*node);
  }
  return std::move(copier).finish();
}

}  // namespace cloze::passes
