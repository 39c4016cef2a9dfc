// Reference kernels of global_norm, gradient_scale, lamb and adamw: ops/optimizer_update.h.
// All tensors are Parameter<X>.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct GlobalNorm {
  template <typename X>
  static void run(const Call& call);
};

struct GradientScale {
  template <typename X>
  static void run(const Call& call);
};

struct Lamb {
  template <typename X>
  static void run(const Call& call);
};

struct AdamW {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
