#include "passes/accumulate.h"

#include <optional>

#include "graph/rewriter.h"
#include "ops/elementwise.h"

namespace cloze::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::Rewriter;
using graph::Value;

std::optional<size_t> accumulable_output(const Node& node, Value value) {
  for (const int output : node.op->accumulable_outputs) {
    const auto index = static_cast<size_t>(output);
    if (index < node.outputs.size() && node.outputs[index] == value) return index;
  }
  return std::nullopt;
}

}  // namespace

void accumulate_in_place(graph::Graph& graph) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    const Node& sum = rewriter.node(id);
    if (sum.op != &ops::kAccumulate) continue;
    const Value gradient = sum.inputs[ops::Accumulate::kX];
    const auto producer = rewriter.producer(gradient);
    if (!producer || rewriter.readers(gradient).size() != 1) continue;
    Node changed = rewriter.node(*producer);
    const auto output = accumulable_output(changed, gradient);
    if (!output) continue;
    changed.outputs[*output] = sum.outputs[ops::Accumulate::kY];
    changed.accumulates[*output] = sum.accumulates[ops::Accumulate::kY];
    rewriter.erase(id);
    rewriter.replace(*producer, std::move(changed));
  }
  rewriter.finish();
}

}  // namespace cloze::passes
