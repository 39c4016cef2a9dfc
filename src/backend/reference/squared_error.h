// Reference kernels of squared_error and squared_error_gradient: ops/squared_error.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct SquaredError {
  template <typename X>
  static void run(const Call& call);
};

struct SquaredErrorGradient {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
