// The graph that infers: the forward pass of models/bert_heads.h after the passes of the backend, which
// pack the weights of products for it.
#pragma once

#include <string>
#include <vector>

#include "backend/kernel.h"
#include "base/dtype.h"
#include "graph/graph.h"
#include "models/bert_heads.h"

namespace cloze::inference {

struct PackOptions {
  std::string device = "cpu";  // engine/devices.h
  // The precision of the weights: f32 or bf16. Where the device multiplies bf16 itself, bf16 is what
  // activations are in, too; elsewhere everything is computed in f32.
  DType precision = DType::kF32;
  backend::TargetOptions target = {};  // of what packs them
};

// Parameters are the model's; packed weights are made of them in the refresh phase.
graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape, const PackOptions& options);
graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape,
                             const std::vector<backend::GraphPass>& passes);

// The same with the packed weights for parameters (passes/freeze.h): what a packed model runs.
graph::Graph packed_graph(const models::BertConfig& config, const models::BertHead& head,
                          const models::BatchShape& shape, const PackOptions& options);

}  // namespace cloze::inference
