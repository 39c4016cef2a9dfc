// WorkspaceLayout: the tensors in the workspace of a kernel that multiplies, one after the other
// behind what the product itself takes. The same code gives their size and their places:
//
//   struct Buffers {
//     explicit Buffers(const KernelRequest& request) { sums = workspace.add<float>(1000); }
//     WorkspaceLayout workspace;
//     int64_t sums;                          bytes from the beginning
//   };
//   Buffers(request).workspace.bytes()
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/gpu/launcher.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

class WorkspaceLayout {
 public:
  // Returns where the tensor is.
  template <typename T>
  int64_t add(int64_t elements) {
    const int64_t bytes = round_up(elements * int64_t{sizeof(T)}, kAlignment);
    return std::exchange(bytes_, bytes_ + bytes);
  }
  size_t bytes() const { return static_cast<size_t>(bytes_); }

 private:
  static constexpr int64_t kAlignment = 256;  // what cuBLASLt's best algorithms ask for

  int64_t bytes_ = kProductBytes;
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
