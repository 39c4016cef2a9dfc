// Reference kernels of attention and attention_gradient: ops/attention.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct Attention {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

struct AttentionGradient {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

}  // namespace cloze::backend::reference
