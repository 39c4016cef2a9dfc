#include "passes/accumulate.h"

#include <algorithm>
#include <unordered_map>

#include "ops/elementwise.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

struct Use {
  Node* producer = nullptr;
  int output = 0;
  int num_readers = 0;
};

std::unordered_map<int32_t, Use> uses_of(std::vector<Node>& nodes) {
  std::unordered_map<int32_t, Use> uses;
  for (Node& node : nodes) {
    for (const Value input : node.inputs) ++uses[input.index].num_readers;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Use& use = uses[node.outputs[i].index];
      use.producer = &node;
      use.output = static_cast<int>(i);
    }
  }
  return uses;
}

bool can_accumulate(const Node& node, int output) {
  const std::vector<int>& outputs = node.op->accumulable_outputs;
  return std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

}  // namespace

void accumulate_in_place(Graph& graph) {
  std::vector<Node>& nodes = graph.nodes();
  std::unordered_map<int32_t, Use> uses = uses_of(nodes);
  for (Node& node : nodes) {
    if (node.op != &ops::kAccumulate) continue;
    const Use& use = uses[node.inputs[0].index];
    if (use.producer == nullptr || use.producer->op == nullptr || use.num_readers != 1) continue;
    if (!can_accumulate(*use.producer, use.output)) continue;
    use.producer->outputs[use.output] = node.outputs[0];
    use.producer->accumulates[use.output] = node.accumulates[0];
    node.op = nullptr;
  }
  std::erase_if(nodes, [](const Node& node) { return node.op == nullptr; });
}

}  // namespace cloze::passes
