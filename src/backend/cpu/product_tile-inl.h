// The register tile of a matrix product: kTileRows x kTileColumns sums held in registers while one
// pass over the depth reads a block of A and a packed panel of B. f32 throughout.
//
//   C[i, j] (+)= sum_k A[i, k] B[k, j]      i < rows <= kTileRows, j < columns <= kTileColumns
//
// A is read in one of two layouts:
//   kByRow    A[i, k] = a[i * a_stride + k]   where it lies, for few columns
//   kByDepth  A[i, k] = a[k * a_stride + i]   as PackRows() lays it out: one stream of numbers
//             instead of one a row, which is worth a copy when many panels follow
// B is a panel: depth x kTileColumns floats, aligned to a vector, columns after the last one zero.
// Where there are only a few columns (grouped_convolution.cc), a tile and its panels may be one
// vector wide: kVectors.
// Included once per vector target (hwy/foreach_target.h).
// Source: Van Zee, van de Geijn, BLIS, ACM TOMS 41(3), 2015.
#include <cstddef>
#include <cstdint>

#ifndef CLOZE_BACKEND_CPU_PRODUCT_TILE_ONCE_
#define CLOZE_BACKEND_CPU_PRODUCT_TILE_ONCE_
namespace cloze::backend::cpu {

enum class RowLayout { kByRow, kByDepth };

struct TileArguments {
  int64_t depth = 0;
  const float* a = nullptr;
  int64_t a_stride = 0;
  int64_t a_row_step = 0;  // from tile to tile, a moves by this for every row
  const float* b = nullptr;
  float* c = nullptr;
  int64_t c_stride = 0;
  bool accumulates = false;
  const float* next = nullptr;  // the part of B that is read after this tile; prefetched
};

}  // namespace cloze::backend::cpu
#endif

#if defined(CLOZE_BACKEND_CPU_PRODUCT_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_PRODUCT_TILE_INL_H_
#undef CLOZE_BACKEND_CPU_PRODUCT_TILE_INL_H_
#else
#define CLOZE_BACKEND_CPU_PRODUCT_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"
#include "base/division.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// Two vectors wide, and as many rows as the registers hold: 12 sums of 16 registers, 28 of 32.
inline constexpr int64_t kLanes = HWY_LANES(float);
inline constexpr int64_t kTileColumns = 2 * kLanes;
#if HWY_TARGET <= HWY_AVX3
inline constexpr int64_t kTileRows = 14;
#else
inline constexpr int64_t kTileRows = 6;
#endif

// The values of A that a step multiplies. AVX-512 broadcasts a value as it multiplies by it, which
// saves the instruction that does so for both halves of a row; but then each half loads the value,
// and there are only two loads a cycle. So three rows of four do that: as many as keep the loads
// below the multiply-adds. Alone on its core a thread gains nothing by it; one that shares the core
// with another, as processors of rented machines do, gets half of the instructions and is faster by
// an eighth.
template <RowLayout kLayout>
class StepValues {
 public:
  StepValues(const float* a, int64_t stride) : a_(a), stride_(stride) {}

  HWY_INLINE FloatVector value(int64_t row) const { return hn::Set(FloatTag(), a_[offset(row)]); }
  // The same, loaded again, through a pointer that the compiler does not know to be the same. Not
  // where the address has an index, because that splits the instruction in two again.
  HWY_INLINE StepValues again() const {
    StepValues same = *this;
#if HWY_TARGET <= HWY_AVX3
    if constexpr (kLayout == RowLayout::kByDepth) asm("" : "+r"(same.a_));
#endif
    return same;
  }
  HWY_INLINE void advance() { a_ += kLayout == RowLayout::kByRow ? 1 : stride_; }

 private:
  HWY_INLINE int64_t offset(int64_t row) const {
    return kLayout == RowLayout::kByRow ? row * stride_ : row;
  }

  const float* HWY_RESTRICT a_;
  int64_t stride_;
};

// One step of the depth: adds the products of a column of A and a row of B to the sums of kRows
// rows, left and right half; with one vector there is only a left half.
template <int64_t kRows, RowLayout kLayout, int64_t kVectors = 2>
HWY_INLINE void AddProducts(const StepValues<kLayout>& a, const float* HWY_RESTRICT b,
                            FloatVector (&left)[kRows], FloatVector (&right)[kRows]) {
  const FloatTag d;
  const FloatVector b0 = hn::Load(d, b);
  const FloatVector b1 = kVectors == 2 ? hn::Load(d, b + kLanes) : b0;
  const auto again = a.again();
#pragma GCC unroll 14
  for (int64_t i = 0; i < kRows; ++i) {
    left[i] = hn::MulAdd(a.value(i), b0, left[i]);
    if constexpr (kVectors == 2)
      right[i] = hn::MulAdd((i % 4 == 0 ? a : again).value(i), b1, right[i]);
  }
}

// Many panels of B are in the last-level cache, too far away to wait for. So while one is
// multiplied, the next is fetched into the L2 cache, one line every few steps. Not into the L1
// cache: where that is small, the next panel would evict what is being read.
inline constexpr int64_t kStepsPerLine = 4;
inline constexpr int64_t kLineFloats = 16;
HWY_INLINE void FetchForLater(const float* line) { __builtin_prefetch(line, 0, 2); }

template <int64_t kRows, RowLayout kLayout, int64_t kVectors>
HWY_NOINLINE void MultiplyRows(const TileArguments& t) {
  const FloatTag d;
  FloatVector left[kRows];
  FloatVector right[kRows];
#pragma GCC unroll 14
  for (int64_t i = 0; i < kRows; ++i) left[i] = right[i] = hn::Zero(d);
  StepValues<kLayout> a(t.a, t.a_stride);
  const float* HWY_RESTRICT b = t.b;
  const auto step = [&]() HWY_ATTR {
    AddProducts<kRows, kLayout, kVectors>(a, b, left, right);
    a.advance();
    b += kVectors * kLanes;
  };
  const float* next = t.next;
  int64_t k = 0;
  for (; k + kStepsPerLine <= t.depth; k += kStepsPerLine, next += kLineFloats) {
    FetchForLater(next);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kStepsPerLine; ++i) step();
  }
  for (; k < t.depth; ++k) step();
#pragma GCC unroll 14
  for (int64_t i = 0; i < kRows; ++i) {
    float* c = t.c + i * t.c_stride;
    if (t.accumulates) left[i] = hn::Add(left[i], hn::LoadU(d, c));
    hn::StoreU(left[i], d, c);
    if constexpr (kVectors == 2) {
      if (t.accumulates) right[i] = hn::Add(right[i], hn::LoadU(d, c + kLanes));
      hn::StoreU(right[i], d, c + kLanes);
    }
  }
}

// The same for a number of rows known only at run time.
template <RowLayout kLayout, int64_t kVectors, int64_t kRows = kTileRows>
HWY_INLINE void MultiplyRows(int64_t rows, const TileArguments& t) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return MultiplyRows<kLayout, kVectors, kRows - 1>(rows, t);
  }
  MultiplyRows<kRows, kLayout, kVectors>(t);
}

// A tile whose columns may end inside the panel: goes through a full tile beside it.
template <RowLayout kLayout, int64_t kVectors>
HWY_INLINE void MultiplyTile(int64_t rows, int64_t columns, const TileArguments& t) {
  if (columns == kVectors * kLanes) return MultiplyRows<kLayout, kVectors>(rows, t);
  HWY_ALIGN float full[kTileRows * kTileColumns];
  TileArguments inside = t;
  inside.c = full;
  inside.c_stride = kTileColumns;
  inside.accumulates = false;
  MultiplyRows<kLayout, kVectors>(rows, inside);
  for (int64_t i = 0; i < rows; ++i) {
    float* c = t.c + i * t.c_stride;
    for (int64_t j = 0; j < columns; ++j) {
      c[j] = full[i * kTileColumns + j] + (t.accumulates ? c[j] : 0.0f);
    }
  }
}

// A block of A times several panels that lie one after the other. The panel stays in the L1 cache
// while the rows pass by.
template <RowLayout kLayout, int64_t kVectors = 2>
HWY_INLINE void MultiplyPanels(int64_t rows, int64_t columns, TileArguments t) {
  const TileArguments first = t;
  constexpr int64_t kColumns = kVectors * kLanes;
  // Where rows are read in place, tiles can have equal heights: a short one at the end would leave
  // most of the multipliers idle.
  const int64_t tiles = divide_up(rows, kTileRows);
  const int64_t height = kLayout == RowLayout::kByRow ? divide_up(rows, tiles) : kTileRows;
  const int64_t share = t.depth / kStepsPerLine * kLineFloats;  // of the next panel, for each tile
  static_assert(kColumns * kStepsPerLine >= kLineFloats, "a share would be more than a panel");
  for (int64_t j = 0; j < columns; j += kColumns) {
    const int64_t tile_columns = HWY_MIN(kColumns, columns - j);
    const int64_t after = j + kColumns;
    const float* next = first.b + (after < columns ? after : 0) * t.depth;
    for (int64_t i = 0; i < rows; i += height) {
      t.a = first.a + i * t.a_row_step;
      t.b = first.b + j * t.depth;
      t.c = first.c + i * t.c_stride + j;
      t.next = next + HWY_MIN(i / height * share, kColumns * t.depth - share);
      MultiplyTile<kLayout, kVectors>(HWY_MIN(height, rows - i), tile_columns, t);
    }
  }
}

// One panel of B[k, j] = from[k * stride + j].
template <typename T>
HWY_INLINE void PackPanel(const T* from, int64_t stride, int64_t depth, int64_t columns,
                          float* HWY_RESTRICT panel) {
  const FloatTag d;
  for (int64_t k = 0; k < depth; ++k, panel += kTileColumns) {
    const T* row = from + k * stride;
    if (columns == kTileColumns) {
      hn::Store(LoadFloats(d, row, Whole{}), d, panel);
      hn::Store(LoadFloats(d, row + kLanes, Whole{}), d, panel + kLanes);
      continue;
    }
    for (int64_t j = 0; j < kTileColumns; ++j) {
      panel[j] = j < columns ? static_cast<float>(row[j]) : 0.0f;
    }
  }
}

// A vector of blocks of four floats: block i from rows[4 i] + k.
template <class D, typename T>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const T* const* rows, int64_t k) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return LoadFloats(d, rows[0] + k, Whole{});
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, rows + hn::MaxLanes(half), k),
                       LoadBlocks(half, rows, k));
  }
}

// to[k * pitch + j] = rows[j][k] for k < depth, j < count; zero for count <= j < columns. Each
// store writes a whole vector; the next one overwrites the excess.
template <typename T>
HWY_INLINE void TransposeGroup(const T* const (&rows)[kLanes], int64_t depth, size_t count,
                               size_t columns, int64_t pitch, float* HWY_RESTRICT to) {
  const FloatTag d;
  const auto is_row = hn::FirstN(d, count);
  const auto store = [&](int64_t k, FloatVector v) HWY_ATTR {
    v = hn::IfThenElseZero(is_row, v);
    if (k + 1 < depth) return hn::StoreU(v, d, to + k * pitch);
    StoreFloats(d, v, to + k * pitch, Tail{columns});
  };
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const auto r0 = LoadBlocks(d, rows, k);
    const auto r1 = LoadBlocks(d, rows + 1, k);
    const auto r2 = LoadBlocks(d, rows + 2, k);
    const auto r3 = LoadBlocks(d, rows + 3, k);
    const auto even_low = hn::InterleaveLower(d, r0, r2);
    const auto odd_low = hn::InterleaveLower(d, r1, r3);
    const auto even_high = hn::InterleaveUpper(d, r0, r2);
    const auto odd_high = hn::InterleaveUpper(d, r1, r3);
    store(k, hn::InterleaveLower(d, even_low, odd_low));
    store(k + 1, hn::InterleaveUpper(d, even_low, odd_low));
    store(k + 2, hn::InterleaveLower(d, even_high, odd_high));
    store(k + 3, hn::InterleaveUpper(d, even_high, odd_high));
  }
  for (; k < depth; ++k) {
    for (size_t j = 0; j < columns; ++j) {
      to[k * pitch + j] = j < count ? static_cast<float>(rows[j][k]) : 0.0f;
    }
  }
}

// to[k * kPitch + j] = from[j * stride + k], k < depth, j < count <= kPitch; zero for j >= count.
template <int64_t kPitch, typename T>
HWY_INLINE void TransposeRows(const T* from, int64_t stride, int64_t depth, int64_t count,
                              float* HWY_RESTRICT to) {
  static_assert(kPitch % kLanes == 0 || (kPitch < kLanes && kLanes <= 2 * kPitch),
                "a store would reach a vector that is done, or beyond the next row");
  for (int64_t j = 0; j < kPitch; j += kLanes) {
    const T* rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) rows[i] = from + HWY_MIN(j + i, count - 1) * stride;
    TransposeGroup(rows, depth, static_cast<size_t>(HWY_MAX(count - j, 0)),
                   static_cast<size_t>(HWY_MIN(kLanes, kPitch - j)), kPitch, to + j);
  }
}

// One panel of B[k, j] = from[j * stride + k].
template <typename T>
HWY_INLINE void PackTransposedPanel(const T* from, int64_t stride, int64_t depth, int64_t columns,
                                    float* HWY_RESTRICT panel) {
  TransposeRows<kTileColumns>(from, stride, depth, columns, panel);
}

// The rows of a tile of A, kByDepth with a stride of kTileRows.
template <typename T>
HWY_INLINE void PackRows(const T* from, int64_t stride, int64_t depth, int64_t rows,
                         float* HWY_RESTRICT to) {
  TransposeRows<kTileRows>(from, stride, depth, rows, to);
}

// One stored row of a transposed A, dealt out to the tiles it belongs to. Where another row follows
// in the tiles, whole vectors are stored: that row overwrites the excess.
HWY_INLINE void DealRow(const float* row, int64_t rows, int64_t tile_step, bool is_last,
                        float* to) {
  static constexpr int64_t kVectors = divide_up(kTileRows, kLanes);
  const FloatTag d;
  int64_t i = 0;
  for (; !is_last && i + kVectors * kLanes <= rows; i += kTileRows, to += tile_step) {
    for (int64_t j = 0; j < kVectors; ++j) {
      hn::StoreU(hn::LoadU(d, row + i + j * kLanes), d, to + j * kLanes);
    }
  }
  for (; i < rows; i += kTileRows, to += tile_step) {
    std::copy_n(row + i, std::min(kTileRows, rows - i), to);
  }
}

// Any number of rows as tiles, one after the other.
template <typename T>
HWY_INLINE void PackTiles(const T* from, int64_t stride, int64_t depth, int64_t rows,
                          float* tiles) {
  for (int64_t i = 0; i < rows; i += kTileRows) {
    PackRows(from + i * stride, stride, depth, HWY_MIN(kTileRows, rows - i), tiles + i * depth);
  }
}

// The block of a matrix as panels: depth x columns, panel after panel.
template <typename T>
HWY_INLINE void PackPanels(const T* from, int64_t stride, int64_t depth, int64_t columns,
                           float* panels) {
  for (int64_t j = 0; j < columns; j += kTileColumns) {
    PackPanel(from + j, stride, depth, HWY_MIN(kTileColumns, columns - j), panels + j * depth);
  }
}
template <typename T>
HWY_INLINE void PackTransposedPanels(const T* from, int64_t stride, int64_t depth, int64_t columns,
                                     float* panels) {
  for (int64_t j = 0; j < columns; j += kTileColumns) {
    PackTransposedPanel(from + j * stride, stride, depth, HWY_MIN(kTileColumns, columns - j),
                        panels + j * depth);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif
