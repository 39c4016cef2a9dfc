// Product: a product of matrices, as the operators ask for it. It is no kernel written here: a card
// runs cuBLASLt's (backend/cuda/product.h), the emulation a stand-in (emulation/product.h).
//
//   C = A B, or C += A B        A [rows, depth], B [depth, columns], C [rows, columns]
//
// for each of `count` products of the same sizes. All matrices are row-major; A and B may be stored
// as their transposes. A and B are both f32 or both bf16; C is as they are, or f32. Terms and sums
// are f32, never narrower, and C is rounded once.
#pragma once

#include <compare>
#include <cstdint>

#include "backend/device.h"
#include "base/dtype.h"

namespace cloze::backend::gpu {

// Where the elements of a matrix are, from its first one on, in elements.
struct MatrixLayout {
  int64_t stride = 0;          // from one stored row to the next
  bool is_transposed = false;  // the transpose is stored; never that of C
  int64_t batch_stride = 0;    // from the matrix of one product to that of the next

  auto operator<=>(const MatrixLayout&) const = default;
};

struct ProductSizes {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t count = 1;

  auto operator<=>(const ProductSizes&) const = default;
};

struct Product {
  ProductSizes sizes;
  MatrixLayout a, b, c;
  DType operands = DType::kF32;  // of A and B
  DType result = DType::kF32;    // of C
  bool accumulates = false;

  auto operator<=>(const Product&) const = default;
};

// A matrix as it is stored.
struct StoredMatrix {
  int64_t rows = 0, columns = 0;
  MatrixLayout layout;

  // The number of elements from the first of all `count` matrices to the last.
  int64_t extent(int64_t count) const {
    return (count - 1) * layout.batch_stride + (rows - 1) * layout.stride + columns;
  }
};
inline StoredMatrix stored(const MatrixLayout& layout, int64_t rows, int64_t columns) {
  if (layout.is_transposed) return {columns, rows, layout};
  return {rows, columns, layout};
}
inline StoredMatrix stored_a(const Product& product) {
  return stored(product.a, product.sizes.rows, product.sizes.depth);
}
inline StoredMatrix stored_b(const Product& product) {
  return stored(product.b, product.sizes.depth, product.sizes.columns);
}
inline StoredMatrix stored_c(const Product& product) {
  return stored(product.c, product.sizes.rows, product.sizes.columns);
}

// The first elements of the matrices.
struct ProductAddresses {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

// The workspace that a product may use on a card: NVIDIA's advice for Hopper.
inline constexpr int64_t kCardProductBytes = int64_t{32} << 20;

// Gives the product to the stream of a card. The workspace has kCardProductBytes. EnvironmentError
// when the library fails. Defined in backend/cuda.
void run_on_card(const Product& product, const ProductAddresses& addresses, DeviceAddress workspace,
                 Stream& stream);

}  // namespace cloze::backend::gpu
