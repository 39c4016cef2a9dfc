// Reference kernels of add and accumulate: ops/elementwise.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct Add {
  template <typename X>
  static void run(const Call& call);
};

struct Accumulate {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
