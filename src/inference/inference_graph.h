// The graph that infers: the forward pass of models/bert_heads.h with activations fused into their
// products and the weights of products packed for the backend.
#pragma once

#include <string>

#include "base/dtype.h"
#include "graph/graph.h"
#include "models/bert_heads.h"

namespace cloze::inference {

// How weights are packed. Backends that do not pack them keep f32 and one product.
struct CompileOptions {
  // f32 or bf16; everything is computed in f32.
  DType precision = DType::kF32;
  // Large products by Strassen's algorithm (ops/packed_linear.h).
  bool strassen = false;
};

struct InferenceGraphOptions {
  std::string backend = "cpu";
  CompileOptions weights;
};

// Parameters are the model's; packed weights are made of them in Phase::kRefresh.
graph::Graph inference_graph(const models::BertConfig& config, const models::BertHead& head,
                             const models::BatchShape& shape, const InferenceGraphOptions& options);

}  // namespace cloze::inference
