#include "passes/precision.h"

#include <unordered_map>

#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Phase;
using graph::Value;
using graph::VariableRole;

constexpr int kWeightInput = 1;  // of linear and of vocabulary_loss

bool reads_weight(const Node& node) {
  return node.op == &ops::kLinear || node.op == &ops::kVocabularyLoss;
}

class ComputeCopies {
 public:
  ComputeCopies(Graph& graph, DType dtype) : graph_(graph), dtype_(dtype) {}

  Value of(Value parameter) {
    const auto found = copies_.find(parameter.index);
    if (found != copies_.end()) return found->second;
    const Value copy = graph_.add_variable({.name = "compute." + graph_.info(parameter).name,
                                            .type = {dtype_, graph_.type(parameter).shape},
                                            .role = VariableRole::kComputeCopy,
                                            .master = parameter});
    const Phase phase = graph_.phase();
    graph_.set_phase(Phase::kRefresh);
    graph_.add_into(ops::kCast, {parameter}, ops::CastAttributes{dtype_}, {{copy, false}});
    graph_.set_phase(phase);
    copies_.emplace(parameter.index, copy);
    return copy;
  }

 private:
  Graph& graph_;
  DType dtype_;
  std::unordered_map<int32_t, Value> copies_;
};

}  // namespace

void use_compute_dtype(Graph& graph, DType dtype) {
  if (dtype == DType::kF32) return;
  ComputeCopies copies(graph, dtype);
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
