// gelu: x times the normal distribution function of x, exactly (erf) or by tanh.
//
//   erf:   y = x/2 (1 + erf(x / sqrt 2))
//   tanh:  y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
// Inputs:  x f32 | bf16, any shape.   Outputs: y as x.   gelu_gradient: dy, x -> dx.
// Source: Hendrycks, Gimpel, arXiv 1606.08415; "gelu" and "gelu_new" of transformers.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

enum class GeluForm { kErf, kTanh };

struct GeluAttributes {
  GeluForm form = GeluForm::kErf;
};

extern const graph::OpDefinition kGelu;
extern const graph::OpDefinition kGeluGradient;

graph::Value gelu(graph::Graph& graph, graph::Value x, GeluForm form);

}  // namespace cloze::ops
