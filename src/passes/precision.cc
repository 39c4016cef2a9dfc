#include "passes/precision.h"

#include "graph/rewriter.h"
#include "ops/embedding.h"

namespace cloze::passes {

using graph::Node;
using graph::NodeId;
using graph::Rewriter;

void use_compute_dtype(graph::Graph& graph, DType dtype) {
  if (dtype == DType::kF32) return;
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    Node node = rewriter.node(id);
    if (node.op == &ops::kEmbedding) node.attributes = ops::EmbeddingAttributes{dtype};
    rewriter.replace(id, std::move(node));
    rewriter.infer_types(id);
  }
  rewriter.finish();
}

}  // namespace cloze::passes
