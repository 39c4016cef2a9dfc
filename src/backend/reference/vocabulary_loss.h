// Reference kernels of vocabulary_loss, its gradient and both in one: ops/vocabulary_loss.h.
// A logit is computed again whenever it is needed, so the workspace is a few rows.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct VocabularyLoss {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

struct VocabularyLossGradient {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

struct VocabularyLossWithGradient {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

}  // namespace cloze::backend::reference
