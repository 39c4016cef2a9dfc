// Reference kernels of pack_weight and packed_linear: ops/packed_linear.h. X is the dtype of the
// packed weight; with pairs, of x too.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct PackWeight {
  template <typename X>
  static void run(const Call& call);
};

struct PackedLinear {
  static size_t workspace_bytes(const KernelRequest& request);
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
