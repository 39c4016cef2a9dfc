#include "passes/fuse.h"

#include <algorithm>

#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

Node* producer_of(std::vector<Node>& nodes, Value value) {
  for (Node& node : nodes) {
    if (std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end()) {
      return &node;
    }
  }
  return nullptr;
}

// Erases the nodes a fusion has emptied (op set to null).
void erase_emptied(std::vector<Node>& nodes) {
  std::erase_if(nodes, [](const Node& node) { return node.op == nullptr; });
}

bool is_gradient_of(const Node& gradient, const Node& loss) {
  return gradient.op == &ops::kVocabularyLossGradient &&
         std::equal(loss.inputs.begin(), loss.inputs.end(), gradient.inputs.begin() + 1,
                    gradient.inputs.end());
}

}  // namespace

void fuse_activations(Graph& graph) {
  std::vector<Node>& nodes = graph.nodes();
  for (Node& node : nodes) {
    if (node.op != &ops::kGelu) continue;
    Node* linear = producer_of(nodes, node.inputs[0]);
    if (linear == nullptr || linear->op != &ops::kLinear || linear->outputs.size() != 1) continue;
    const auto form = std::any_cast<const ops::GeluAttributes&>(node.attributes).form;
    linear->attributes = ops::LinearAttributes{form};
    linear->outputs = {node.outputs[0], node.inputs[0]};
    linear->accumulates = {false, false};
    node.op = nullptr;
  }
  erase_emptied(nodes);
}

void fuse_vocabulary_loss(Graph& graph) {
  std::vector<Node>& nodes = graph.nodes();
  for (Node& loss : nodes) {
    if (loss.op != &ops::kVocabularyLoss) continue;
    const auto gradient = std::find_if(
        nodes.begin(), nodes.end(), [&](const Node& node) { return is_gradient_of(node, loss); });
    if (gradient == nodes.end()) continue;
    const size_t dot = loss.name.rfind('.') + 1;
    loss.name = loss.name.substr(0, dot) + std::string(ops::kVocabularyLossWithGradient.name);
    loss.op = &ops::kVocabularyLossWithGradient;
    loss.inputs = gradient->inputs;
    loss.outputs.insert(loss.outputs.end(), gradient->outputs.begin(), gradient->outputs.end());
    loss.accumulates.resize(loss.outputs.size(), false);
    gradient->op = nullptr;
  }
  erase_emptied(nodes);
}

}  // namespace cloze::passes
