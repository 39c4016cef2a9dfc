// gelu: x times the normal distribution function of x, exactly (erf) or by tanh.
//
//   erf:   y = x/2 (1 + erf(x / sqrt 2))
//   tanh:  y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//
// A kernel rounds like any other kernel. The erf form may have an additional error of up to
// kGeluErfError, both as an operator and as the activation of a product: a kernel may compute the
// tail by polynomials (backend/cpu/math-inl.h) and let it end at -7.25.
// Inputs:  x f32 | bf16 | f16, any shape.   Outputs: y as x.   gelu_gradient: dy, x -> dx.
// Source: Hendrycks, Gimpel, arXiv 1606.08415; "gelu" and "gelu_new" of transformers.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

enum class GeluForm { kErf, kTanh };

// 1.86e-9, a 64th of the round-off of numbers near 1. The polynomials are off by 1.11e-9 at most,
// near -2.5; the tail that is left out is 1.52e-12.
inline constexpr double kGeluErfError = 0x1p-29;

struct GeluAttributes {
  GeluForm form = GeluForm::kErf;
};

struct Gelu {
  enum Input { kX };
  enum Output { kY };
};
struct GeluGradient {
  enum Input { kDy, kX };
  enum Output { kDx };
};

extern const graph::OpDefinition kGelu;
extern const graph::OpDefinition kGeluGradient;

graph::Value gelu(graph::Graph& graph, graph::Value x, GeluForm form);

}  // namespace cloze::ops
