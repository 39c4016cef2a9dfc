// Reference kernels of embedding and embedding_gradient: ops/embedding.h.
#pragma once

#include "backend/reference/call.h"

namespace cloze::backend::reference {

struct Embedding {
  template <typename X>
  static void run(const Call& call);
};

struct EmbeddingGradient {
  template <typename X>
  static void run(const Call& call);
  static size_t workspace_bytes(const KernelRequest& request);
};

}  // namespace cloze::backend::reference
