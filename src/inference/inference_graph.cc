#include "inference/inference_graph.h"

#include "engine/devices.h"
#include "passes/freeze.h"

namespace cloze::inference {

graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape, const PackOptions& options) {
  const backend::Backend& backend = engine::device_named(options.device).backend();
  return inference_graph(config, head, shape, backend.inference_passes(options.precision));
}

graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape,
                             const std::vector<backend::GraphPass>& passes) {
  graph::Graph graph;
  models::bert_for_inference(graph, config, head, shape);
  for (const backend::GraphPass& pass : passes) pass.run(graph);
  return graph;
}

graph::Graph packed_graph(const models::BertConfig& config, const models::BertHead& head,
                          const models::BatchShape& shape, const PackOptions& options) {
  return passes::frozen(inference_graph(config, head, shape, options));
}

}  // namespace cloze::inference
