// Reference kernels of linear, linear_input_gradient and linear_weight_gradient: ops/linear.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct Linear {
  template <typename X>
  static void run(const Call& call);
};

struct LinearInputGradient {
  template <typename X>
  static void run(const Call& call);
};

struct LinearWeightGradient {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
