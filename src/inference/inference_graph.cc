#include "inference/inference_graph.h"

#include "engine/backends.h"
#include "passes/fuse.h"
#include "passes/pack_weights.h"

namespace cloze::inference {

graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape,
                             const InferenceGraphOptions& options) {
  graph::Graph graph;
  models::bert_for_inference(graph, config, head, shape);
  passes::fuse_activations(graph);
  const int64_t columns = engine::backend_named(options.backend).panel_columns();
  passes::pack_weights(graph, {.panel_columns = columns,
                               .dtype = options.weights.precision,
                               .strassen = options.weights.strassen});
  return graph;
}

}  // namespace cloze::inference
