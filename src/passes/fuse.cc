#include "passes/fuse.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/rewriter.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Rewriter;

bool is_gradient_of(const Node& gradient, const Node& loss) {
  return gradient.op == &ops::kVocabularyLossGradient &&
         std::equal(loss.inputs.begin(), loss.inputs.end(),
                    gradient.inputs.begin() + ops::VocabularyLossGradient::kX,
                    gradient.inputs.end());
}

std::optional<NodeId> gradient_of(const Rewriter& rewriter, const Node& loss) {
  for (const NodeId reader : rewriter.readers(loss.inputs[ops::VocabularyLoss::kX])) {
    if (is_gradient_of(rewriter.node(reader), loss)) return reader;
  }
  return std::nullopt;
}

}  // namespace

void fuse_activations(Graph& graph) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    const Node& gelu = rewriter.node(id);
    if (gelu.op != &ops::kGelu) continue;
    const auto producer = rewriter.producer(gelu.inputs[ops::Gelu::kX]);
    if (!producer) continue;
    Node linear = rewriter.node(*producer);
    if (linear.op != &ops::kLinear || linear.outputs.size() != 1) continue;
    const auto form = std::any_cast<const ops::GeluAttributes&>(gelu.attributes).form;
    linear.attributes = ops::LinearAttributes{form};
    linear.outputs = {gelu.outputs[ops::Gelu::kY], gelu.inputs[ops::Gelu::kX]};
    linear.accumulates = {false, false};
    rewriter.erase(id);
    rewriter.replace(*producer, std::move(linear));
  }
  rewriter.finish();
}

void fuse_vocabulary_loss(Graph& graph) {
  Rewriter rewriter(graph);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) {
    Node loss = rewriter.node(id);
    if (loss.op != &ops::kVocabularyLoss) continue;
    const auto gradient = gradient_of(rewriter, loss);
    if (!gradient) continue;
    loss.op = &ops::kVocabularyLossWithGradient;
    loss.inputs = rewriter.node(*gradient).inputs;
    const auto& outputs = rewriter.node(*gradient).outputs;
    loss.outputs.insert(loss.outputs.end(), outputs.begin(), outputs.end());
    loss.accumulates.resize(loss.outputs.size(), false);
    rewriter.erase(*gradient);
    rewriter.replace(id, std::move(loss));
  }
  rewriter.finish();
}

}  // namespace cloze::passes
