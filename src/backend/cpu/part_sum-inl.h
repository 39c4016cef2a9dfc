// Sums of parts of a matrix, row by row: what packed products are made of. A matrix is cut into
// quadrants, or is one part. Included once per vector target (hwy/foreach_target.h).
#include <cstdint>

#include "ops/packed_linear.h"

#ifndef CLOZE_BACKEND_CPU_PART_SUM_ONCE_
#define CLOZE_BACKEND_CPU_PART_SUM_ONCE_
namespace cloze::backend::cpu {

// Rows [row, row + rows) of each part, times its factor: of x for a tile, or of a weight for a
// panel, whose rows are the columns of the product.
struct PartSum {
  const float* matrix = nullptr;
  int64_t matrix_rows = 0;  // parts may end behind the last; rows there count as zero
  int64_t stride = 0;
  int64_t part_rows = 0;
  int64_t depth = 0;
  ops::Quadrants factors{};  // [half of the rows, half of the depth]
  int64_t row = 0, rows = 0;
  float* scratch = nullptr;  // [rows, depth]
};

}  // namespace cloze::backend::cpu
#endif

#if defined(CLOZE_BACKEND_CPU_PART_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_PART_SUM_INL_H_
#undef CLOZE_BACKEND_CPU_PART_SUM_INL_H_
#else
#define CLOZE_BACKEND_CPU_PART_SUM_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// Rows that hold a sum of parts, and how far they lie apart: in the matrix, if there is one part.
struct SummedRows {
  const float* rows = nullptr;
  int64_t stride = 0;
};

// Of the depths [begin, begin + depth).
HWY_INLINE SummedRows SumParts(const PartSum& t, int64_t begin, int64_t depth) {
  const FloatTag d;
  struct {
    const float* rows = nullptr;
    int64_t count = 0;
    float factor = 0.0f;
  } parts[2];  // no sum has more
  int64_t num_parts = 0;
  for (int part = 0; part < 4; ++part) {
    if (t.factors[part] == 0) continue;
    const int64_t row = part / 2 * t.part_rows + t.row;
    parts[num_parts++] = {t.matrix + row * t.stride + part % 2 * t.depth + begin,
                          HWY_MAX(0, HWY_MIN(t.rows, t.matrix_rows - row)),
                          static_cast<float>(t.factors[part])};
  }
  if (num_parts == 1 && parts[0].count == t.rows) return {parts[0].rows, t.stride};
  const auto zero = hn::Zero(d);
  const auto first_factor = hn::Set(d, parts[0].factor);
  const auto second_factor = hn::Set(d, parts[1].factor);
  for (int64_t i = 0; i < t.rows; ++i) {
    const int64_t row = i * t.stride;
    ForEachVector(d, depth, [&](int64_t k, auto tail) HWY_ATTR {
      FloatVector sum = zero;
      if (i < parts[0].count) {
        sum = hn::Mul(first_factor, LoadFloats(d, parts[0].rows + row + k, tail));
      }
      if (i < parts[1].count) {
        sum = hn::MulAdd(second_factor, LoadFloats(d, parts[1].rows + row + k, tail), sum);
      }
      StoreFloats(d, sum, t.scratch + i * depth + k, tail);
    });
  }
  return {t.scratch, depth};
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif  // CLOZE_BACKEND_CPU_PART_SUM_INL_H_
