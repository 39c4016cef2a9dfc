// MomentStep: the numbers of one update by lamb or adamw, computed in double and rounded once.
// Formulas: ops/optimizer_update.h.
#pragma once

#include "backend/kernel.h"

namespace cloze::backend::cpu {

struct MomentStep {
  float beta1 = 0.0f;
  float gradient_share1 = 0.0f;  // (1 - beta1) gradient_scale
  float beta2 = 0.0f;
  float square_share2 = 0.0f;  // 1 - beta2
  float gradient_scale = 0.0f;
  float debias1 = 1.0f;  // 1 / (1 - beta1^t)
  float debias2 = 1.0f;  // 1 / (1 - beta2^t)
  float epsilon = 0.0f;
  float weight_decay = 0.0f;
  float learning_rate = 0.0f;

  // A scale of 0 says that the step is not finite: nothing moves.
  bool is_skipped() const { return gradient_scale == 0.0f; }
};

MomentStep moment_step(const KernelRequest& request, const KernelArguments& arguments);

}  // namespace cloze::backend::cpu
