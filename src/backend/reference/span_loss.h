// Reference kernels of span_loss and span_loss_gradient: ops/span_loss.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct SpanLoss {
  template <typename X>
  static void run(const Call& call);
};

struct SpanLossGradient {
  template <typename X>
  static void run(const Call& call);
};

}  // namespace cloze::backend::reference
