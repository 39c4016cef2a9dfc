// Reference kernels of layer_norm and layer_norm_gradient: ops/layer_norm.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct LayerNorm {
  template <typename X>
  static void run(const Call& call);
};

struct LayerNormGradient {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

}  // namespace cloze::backend::reference
