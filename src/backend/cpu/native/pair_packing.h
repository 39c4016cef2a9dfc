// Lays out the operands of PairProduct. A is [rows, depth] with a stride of its own, B lies in panels
// of pairs (pair_product.h); both are zero outside of what they are made from.
#pragma once

#include <cstdint>

#include "backend/cpu/native/pair_product.h"
#include "base/bfloat16.h"

namespace cloze::backend::cpu {

// A matrix whose rows lie `stride` apart.
template <typename T>
struct MatrixRows {
  const T* rows = nullptr;
  int64_t stride = 0;
  int64_t count = 0;
  int64_t width = 0;
};
using PairRows = MatrixRows<bfloat16>;

// A = rows: [rows, depth] from [count, width].
void pack_rows(const PairRows& from, int64_t rows, int64_t depth, bfloat16* to);
// The same from rows that are rounded on the way.
void pack_rounded_rows(const MatrixRows<float>& from, int64_t rows, int64_t depth, bfloat16* to);
// B = rows^T: [depth, columns] from [count, width].
void pack_transposed_pairs(const PairRows& from, int64_t columns, int64_t depth, bfloat16* panels);
// B = rows: [depth, columns] from [count, width].
void pack_pairs(const PairRows& from, int64_t columns, int64_t depth, bfloat16* panels);
// The same from rows that are rounded on the way.
void pack_rounded_pairs(const MatrixRows<float>& from, int64_t columns, int64_t depth,
                        bfloat16* panels);

// A = B^T: [columns, depth], rows kTransposedDepth apart, from panels of [depth, columns].
inline constexpr int64_t kTransposedDepth = 96;  // at most
void transpose_panels(const bfloat16* panels, int64_t columns, int64_t depth, bfloat16* to);

}  // namespace cloze::backend::cpu
