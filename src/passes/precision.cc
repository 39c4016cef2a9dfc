#include "passes/precision.h"

#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"
#include "passes/compute_copies.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

constexpr int kWeightInput = 1;  // of linear and of vocabulary_loss

bool reads_weight(const Node& node) {
  return node.op == &ops::kLinear || node.op == &ops::kVocabularyLoss;
}

}  // namespace

void use_compute_dtype(Graph& graph, DType dtype) {
  if (dtype == DType::kF32) return;
  ComputeCopies copies(graph, ops::kCast, ops::CastAttributes{dtype}, "compute.");
  const size_t num_nodes = graph.nodes().size();
  for (size_t i = 0; i < num_nodes; ++i) {
    if (reads_weight(graph.nodes()[i])) {
      const Value copy = copies.of(graph.nodes()[i].inputs[kWeightInput]);
      graph.nodes()[i].inputs[kWeightInput] = copy;
    }
    Node& node = graph.nodes()[i];
    if (node.op == &ops::kEmbedding) node.attributes = ops::EmbeddingAttributes{dtype};
    const auto types = node.op->infer(graph.types(node.inputs), node.attributes);
    for (size_t output = 0; output < node.outputs.size(); ++output) {
      graph.info(node.outputs[output]).type = types[output];
    }
  }
}

}  // namespace cloze::passes
