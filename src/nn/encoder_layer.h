// One post-norm Transformer encoder layer, as in BERT.
//
//   a = layer_norm(x + dropout(attention(x Wq, x Wk, x Wv) Wo))
//   y = layer_norm(a + dropout(gelu(a W1) W2))
//
//   x, a, y                          [T, H]
//   attention.self.{query,key,value} weight [H, H], bias [H]
//   attention.output.dense           weight [H, H], bias [H]
//   attention.output.LayerNorm       weight, bias [H]
//   intermediate.dense               weight [F, H], bias [F]
//   output.dense                     weight [H, F], bias [H]
//   output.LayerNorm                 weight, bias [H]
//
// Parameter names are relative to the caller's scope and are Hugging Face's: renaming one is a
// format change. Source: Vaswani et al., arXiv 1706.03762; transformers modeling_bert.py (names).
#pragma once

#include "graph/graph.h"
#include "ops/dropout.h"
#include "ops/gelu.h"

namespace cloze::nn {

struct EncoderLayer {
  int64_t num_heads = 12;
  int64_t max_length = 512;  // tokens of the longest sequence there can be
  int64_t intermediate_size = 3072;
  ops::GeluForm activation = ops::GeluForm::kErf;
  double hidden_dropout_rate = 0.1;
  double attention_dropout_rate = 0.1;
  double initializer_range = 0.02;
  double layer_norm_epsilon = 1e-12;
  bool has_qkv_bias = true;
  bool has_attention_projection_bias = true;
};

graph::Value encoder_layer(graph::Graph& graph, graph::Value x, graph::Value sequence_starts,
                           const ops::RandomInputs& random, const EncoderLayer& layer);

}  // namespace cloze::nn
