// Multi-head self-attention as BERT's layers use it, without the projection of its output.
//
//   y = attention(x Wq, x Wk, x Wv)
//
//   x, y [T, H]      self.{query,key,value}  weight [H, H], bias [H] (left out unless has_qkv_bias)
//
// Source: Vaswani et al., arXiv 1706.03762; transformers modeling_bert.py (names).
#pragma once

#include "graph/graph.h"
#include "nn/encoder_layer.h"
#include "ops/dropout.h"

namespace cloze::nn {

graph::Value self_attention(graph::Graph& graph, graph::Value x, graph::Value sequence_starts,
                            const ops::RandomInputs& random, const EncoderLayer& layer);

}  // namespace cloze::nn
