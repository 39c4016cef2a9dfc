#include "passes/precision.h"

#include "ops/embedding.h"

namespace cloze::passes {

using graph::Graph;
using graph::Node;

void use_compute_dtype(Graph& graph, DType dtype) {
  if (dtype == DType::kF32) return;
  for (Node& node : graph.nodes()) {
    if (node.op == &ops::kEmbedding) node.attributes = ops::EmbeddingAttributes{dtype};
    const auto types = node.op->infer(graph.types(node.inputs), node.attributes);
    for (size_t output = 0; output < node.outputs.size(); ++output) {
      graph.info(node.outputs[output]).type = types[output];
    }
  }
}

}  // namespace cloze::passes
