// Reference kernels of gather_rows and scatter_rows: ops/gather_rows.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct GatherRows {
  template <typename X>
  static void run(const Call& call);
};

struct ScatterRows {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

}  // namespace cloze::backend::reference
