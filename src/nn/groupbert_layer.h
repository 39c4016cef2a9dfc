// One layer of GroupBERT's encoder: four pre-norm modules, each x + dropout(f(layer_norm(x))).
//
//   convolution            f(n) = swish(layer_norm(grouped_convolution(glu(n Wg)))) Wo
//   *_first, *_second      f(n) = grouped_linear(gelu(n W1), W2) Wm      before, after attention
//   attention              f(n) = attention(n Wq, n Wk, n Wv) Wo
//
//   convolution.prenorm, .conv_norm                 weight, bias [H]
//   convolution.glu                                 weight [2H, H] (gates, values), bias [2H]
//   convolution.groupconv                           weight [H, C, W], bias [H] (optional)
//   convolution.output_projection                   weight [H, H], bias [H]
//   intermediate_{first,second}.LayerNorm           weight, bias [H]
//   intermediate_{first,second}.dense               weight [F, H], bias [F]
//   output_{first,second}.grouped_matmul            weight [H, F/G, 1], bias [H]
//   output_{first,second}.dense_output_projection   weight [H, H], bias [H]: mixes the groups; left
//                                                   out where there is one group
//   attention.LayerNorm                             weight, bias [H]
//   attention.self.{query,key,value}                weight [H, H], bias [H]
//   attention.output.dense                          weight [H, H], bias [H]
//
// Parameter names are Optimum-Graphcore's: renaming one is a format change.
// Sources: Chelombiev et al., arXiv 2106.05822; graphcore/examples nlp/bert/tensorflow1 modeling.py
// (initial values); huggingface/optimum-graphcore models/groupbert (names, one matrix for the GLU).
#pragma once

#include "graph/graph.h"
#include "nn/encoder_layer.h"
#include "nn/layer_norm_layer.h"

namespace cloze::nn {

struct GroupBertLayer {
  EncoderLayer common;
  int64_t ffn_groups = 4;        // G
  int64_t conv_kernel_size = 7;  // W
  int64_t conv_group_size = 16;  // C
  bool has_convolution_bias = false;
};

// The norm that a layer begins with; within the scope of the layer.
LayerNormParameters groupbert_first_norm(graph::Graph& graph, int64_t hidden_size);

// x.z [T, H]: the sum so far; x.y [T, H]: normed by groupbert_first_norm(). Returns the same for
// what follows, whose norm is `next`.
ops::SumAndNorm groupbert_layer(graph::Graph& graph, const ops::SumAndNorm& x,
                                graph::Value sequence_starts, const ops::RandomInputs& random,
                                const LayerNormParameters& next, const GroupBertLayer& layer);

}  // namespace cloze::nn
