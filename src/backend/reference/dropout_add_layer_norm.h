// Reference kernels of dropout_add_layer_norm and its gradient: ops/dropout_add_layer_norm.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct DropoutAddLayerNorm {
  template <typename X>
  static void run(const Call& call);
};

struct DropoutAddLayerNormGradient {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

}  // namespace cloze::backend::reference
