// The graph that infers: the forward pass of models/bert_heads.h with activations fused into their
// products and the weights of products packed for the backend.
#pragma once

#include <string>

#include "backend/kernel.h"
#include "base/dtype.h"
#include "graph/graph.h"
#include "models/bert_heads.h"
#include "ops/packed_linear.h"

namespace cloze::inference {

struct PackOptions {
  std::string device = "cpu";  // engine/devices.h
  // The precision of the weights: f32 or bf16. Where the processor multiplies bf16 itself
  // (backend/kernel.h) bf16 is what activations are in, too; elsewhere everything is computed in
  // f32.
  DType precision = DType::kF32;
  backend::TargetOptions target = {};  // of what packs them
};

// The layout in which the kernels of the device want the weights.
ops::PackWeightAttributes weight_packing(const PackOptions& options);

// Parameters are the model's; packed weights are made of them in the refresh phase.
graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape,
                             const ops::PackWeightAttributes& packing);

// The same with the packed weights for parameters (passes/freeze.h): what a packed model runs.
graph::Graph packed_graph(const models::BertConfig& config, const models::BertHead& head,
                          const models::BatchShape& shape,
                          const ops::PackWeightAttributes& packing);

}  // namespace cloze::inference
