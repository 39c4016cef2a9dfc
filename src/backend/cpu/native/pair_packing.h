// Lays out the operands of products of bf16 (pair_product.h, matmul.h). A is rows [rows, depth], B
// panels of pairs:
//   panel[k / 2, j, k % 2] = B[k, j]
// Both are zero beyond the data they are made from. Rows of f32 are rounded on the way.
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
using HalfRows = MatrixRows<bfloat16>;
using FloatRows = MatrixRows<float>;

// A = rows: [rows, depth] from [count, width].
void pack_rows(const HalfRows& from, int64_t rows, int64_t depth, bfloat16* to);
void pack_rows(const FloatRows& from, int64_t rows, int64_t depth, bfloat16* to);

// B [depth, columns]; both whole: columns a multiple of panel_columns, depth of 2.
struct PairPanels {
  bfloat16* panels = nullptr;  // one after the other
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t panel_columns = kPairPanelColumns;  // 16 or 64
};

// B = rows: [depth, columns] from [count, width].
void pack_pairs(const HalfRows& from, const PairPanels& to);
void pack_pairs(const FloatRows& from, const PairPanels& to);
// B = rows^T: [depth, columns] from [count, width].
void pack_transposed_pairs(const HalfRows& from, const PairPanels& to);
void pack_transposed_pairs(const FloatRows& from, const PairPanels& to);

// A = B^T: [columns, depth], rows `stride` apart. Panels of 16 columns, a depth in whole steps
// (kPairStep).
void transpose_panels(const PairPanels& from, int64_t stride, bfloat16* to);

}  // namespace cloze::backend::cpu
