// Reference kernels of gelu, tanh and their gradients (ops/gelu.h, ops/tanh.h), and the scalar
// GELU that linear applies as its epilogue.
#pragma once

#include "backend/reference/call.h"
#include "ops/gelu.h"

namespace cloze::backend::reference {

double gelu_value(ops::GeluForm form, double x);
double gelu_slope(ops::GeluForm form, double x);  // d gelu / dx

struct Gelu {
  template <typename X>
  static void run(const Call& call);
};

struct GeluGradient {
  template <typename X>
  static void run(const Call& call);
};

struct Tanh {
  template <typename X>
  static void run(const Call& call);
};

struct TanhGradient {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
