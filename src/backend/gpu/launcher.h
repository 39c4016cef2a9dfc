// Launcher: gives a kernel its tensors and runs it on a grid of blocks.
//
//   Launcher launcher("gelu", stream);
//   launcher.launch<Doubled<float>>({.x = 10}, {launcher.tensor("x", x, 1000), ...});
//   launcher.multiply<bf16, float>(product, {a, b, c}, workspace);
//   launcher.finish();
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/gpu/gpu.h"
#include "backend/gpu/product.h"

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

inline namespace CLOZE_GPU_TARGET {

// A matrix that begins at element `first` of a tensor.
template <typename T>
struct Matrix {
  Global<T> tensor;
  MatrixLayout layout;
  int64_t first = 0;
};

// The matrices of a product.
template <typename T, typename C>
struct Matrices {
  Matrix<const T> a, b;
  Matrix<C> c;
};

}  // namespace CLOZE_GPU_TARGET
}  // namespace cloze::backend::gpu

#if defined(__CUDACC__)
#include "backend/gpu/card_launcher.h"
#else
#include "backend/gpu/emulated_launcher.h"
#endif
