// Product: C = op(A) op(B) in f32, from operands of f32, bf16 or f16, by our own blocked kernels.
//
//   C[i, j] (+)= sum_k A[i, k] B[k, j]        i < m, j < n, k < depth
//
// A is stored [m, depth], or [depth, m] when a_is_transposed; B is stored [depth, n], or [n, depth]
// when b_is_transposed. While operands are loaded, bf16 and f16 are widened, and f32 that counts as
// bf16 or f16 is rounded, so a machine without units for these types loses no time. B is packed
// into panels once per run; f32 A is read in place unless a copy is faster (copies_a() in
// product_plan.h).
//
// A ProductSink handles finished sums (bias, activation, softmax, another dtype): it gets blocks
// that are still in the cache. Without a c, only the sink gets the sums.
//
// The order of the sums depends on the sizes alone: same bytes for any number of threads.
// Source: Goto, van de Geijn, ACM TOMS 34(3), 2008, for the blocking.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace cloze::backend::cpu {

// Finished sums: rows x columns of C, starting at (row, column).
struct ProductBlock {
  int64_t row = 0;
  int64_t rows = 0;
  int64_t column = 0;
  int64_t columns = 0;
  float* values = nullptr;  // element (i, j) of the block is values[i * stride + j]
  int64_t stride = 0;
};

class ProductSink {
 public:
  virtual ~ProductSink() = default;
  // Called once for every block, from several threads at a time.
  virtual void take(const ProductBlock& block) = 0;
};

// The largest call, for which workspace is reserved.
struct ProductShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t depth = 0;
  bool a_is_transposed = false;
  bool b_is_transposed = false;
  DType a_dtype = DType::kF32;
  DType b_dtype = DType::kF32;
  bool rounds_a = false;  // is stored as f32, and counts as rounded to a_dtype
  bool rounds_b = false;
  // Rows of a block, when a sink counts on them; 0: as many as suit the threads.
  int64_t block_rows = 0;
  int num_threads = 1;
};

struct ProductCall {
  int64_t m = 0;  // each size is at most the shape's
  int64_t n = 0;
  int64_t depth = 0;
  const void* a = nullptr;
  int64_t a_stride = 0;  // elements between stored rows
  const void* b = nullptr;
  int64_t b_stride = 0;
  float* c = nullptr;  // may be null when there is a sink
  int64_t c_stride = 0;
  bool accumulates = false;     // adds to c
  ProductSink* sink = nullptr;  // may be null
  // [m], may be null: sum_k A[i, k], for an A that is transposed; added to when `adds_row_sums`.
  float* row_sums = nullptr;
  bool adds_row_sums = false;
  void* workspace = nullptr;
};

class Product {
 public:
  explicit Product(const ProductShape& shape);

  size_t workspace_bytes() const;
  void run(const ProductCall& call) const;

 private:
  ProductShape shape_;
};

}  // namespace cloze::backend::cpu
