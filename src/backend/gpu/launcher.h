// Launcher: gives a kernel its tensors and runs it on a grid of blocks.
//
//   Launcher launcher("gelu", stream);
//   launcher.launch<Doubled<float>>({.x = 10}, {launcher.tensor("x", x, 1000), ...});
//   launcher.finish();
#pragma once

#include <cstddef>
#include <cstdint>

namespace cloze::backend::gpu {

// Blocks of a launch.
struct Grid {
  int64_t x = 1, y = 1;
};

// The bytes of shared memory that a block of the kernel has.
template <typename K>
constexpr size_t shared_bytes() {
  if constexpr (requires { typename K::Shared; }) {
    return sizeof(typename K::Shared);
  } else {
    return 0;
  }
}

}  // namespace cloze::backend::gpu

#if defined(__CUDACC__)
#include "backend/gpu/card_launcher.h"
#else
#include "backend/gpu/emulated_launcher.h"
#endif
