// Reference kernels of cross_entropy and cross_entropy_gradient: ops/cross_entropy.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct CrossEntropy {
  template <typename X>
  static void run(const Call& call);
};

struct CrossEntropyGradient {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
