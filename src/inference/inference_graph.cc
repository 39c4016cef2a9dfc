#include "inference/inference_graph.h"

#include "engine/devices.h"
#include "passes/freeze.h"
#include "passes/fuse.h"
#include "passes/pack_weights.h"
#include "passes/precision.h"

namespace cloze::inference {

using ops::WeightLayout;

ops::PackWeightAttributes weight_packing(const PackOptions& options) {
  return engine::device_named(options.device).backend().weight_layout(options.precision);
}

graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape,
                             const ops::PackWeightAttributes& packing) {
  graph::Graph graph;
  models::bert_for_inference(graph, config, head, shape);
  passes::fuse_activations(graph);
  passes::pack_weights(graph, packing);
  if (packing.layout == WeightLayout::kPairs) passes::use_compute_dtype(graph, packing.dtype);
  return graph;
}

graph::Graph packed_graph(const models::BertConfig& config, const models::BertHead& head,
                          const models::BatchShape& shape,
                          const ops::PackWeightAttributes& packing) {
  return passes::frozen(inference_graph(config, head, shape, packing));
}

}  // namespace cloze::inference
