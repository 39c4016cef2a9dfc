#include "backend/cpu/packed_product.h"

#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/packed_product.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// A small part of the depth at a time: this part, and the part of the rows that is prefetched for
// the next round, stay in the L1 cache until they are laid out. Rows are too far apart for the
// hardware prefetcher.
void PackRowsOfX(const PackedRows& t) {
  constexpr int64_t kDepth = 32;
  for (int64_t k = 0; k < t.depth; k += kDepth) {
    const int64_t depth = HWY_MIN(kDepth, t.depth - k);
    for (int64_t i = 0; i < t.rows; ++i) FetchRow(t.x + i * t.stride + k + depth, depth);
    PackRows(t.x + k, t.stride, depth, t.rows, t.tile + k * kTileRows);
  }
}

// A tile of y: c = a b + start. start is c itself, or one row for all: the bias or zeros.
struct PackedTile {
  int64_t depth = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  const float* start = nullptr;
  int64_t c_stride = 0, start_stride = 0;
  const char* next = nullptr;  // what to prefetch meanwhile, after each kFetchDepth
  int64_t next_lines = 0;      // each time
};
HWY_ALIGN inline constexpr float kZeros[kTileColumns] = {};

// The sums of a tile, left and right half, which stay in registers. Meanwhile, for every
// kFetchDepth of the depth, they prefetch lines of what comes next and a row of c: evenly spread,
// as many fetches at once would have to wait for each other.
inline constexpr int64_t kFetchDepth = 16;

template <int64_t kRows>
HWY_INLINE void SumRows(const PackedTile& t, FloatVector (&left)[kRows],
                        FloatVector (&right)[kRows]) {
#pragma GCC unroll 14
  for (int64_t i = 0; i < kRows; ++i) left[i] = right[i] = hn::Zero(FloatTag());
  StepValues<RowLayout::kByDepth> a(t.a, kTileRows);
  const float* HWY_RESTRICT b = t.b;
  const auto step = [&]() HWY_ATTR {
    AddProducts<kRows>(a, b, left, right);
    a.advance();
    b += kTileColumns;
  };
  const char* next = t.next;
  const float* row = t.c;
  int64_t k = 0;
  for (; k + kFetchDepth <= t.depth; k += kFetchDepth) {
    for (int64_t line = 0; line < t.next_lines; ++line, next += kLineBytes) hwy::Prefetch(next);
    if (k < kRows * kFetchDepth) {
      hwy::Prefetch(row);
      hwy::Prefetch(row + kTileColumns - 1);
      row += t.c_stride;
    }
#pragma GCC unroll 4
    for (int64_t i = 0; i < kFetchDepth; ++i) step();
  }
  for (; k < t.depth; ++k) step();
}

template <int64_t kRows>
HWY_NOINLINE void AddRows(const PackedTile& t) {
  const FloatTag d;
  FloatVector left[kRows];
  FloatVector right[kRows];
  SumRows<kRows>(t, left, right);
  const float* start = t.start;
  float* c = t.c;
#pragma GCC unroll 14
  for (int64_t i = 0; i < kRows; ++i, start += t.start_stride, c += t.c_stride) {
    hn::StoreU(hn::Add(left[i], hn::LoadU(d, start)), d, c);
    hn::StoreU(hn::Add(right[i], hn::LoadU(d, start + kLanes)), d, c + kLanes);
  }
}

template <int64_t kRows = kTileRows>
HWY_INLINE void AddRows(int64_t rows, const PackedTile& t) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return AddRows<kRows - 1>(rows, t);
  }
  AddRows<kRows>(t);
}

// A tile whose columns may end inside the panel: goes through a full tile beside it.
HWY_INLINE void AddTile(int64_t rows, int64_t columns, const PackedTile& t) {
  if (columns == kTileColumns) return AddRows(rows, t);
  HWY_ALIGN float full[kTileRows * kTileColumns];
  PackedTile beside = t;
  beside.c = full;
  beside.c_stride = kTileColumns;
  beside.start = kZeros;
  beside.start_stride = 0;
  AddRows(rows, beside);
  for (int64_t i = 0; i < rows; ++i) {
    const float* start = t.start + i * t.start_stride;
    for (int64_t j = 0; j < columns; ++j) {
      t.c[i * t.c_stride + j] = full[i * kTileColumns + j] + start[j];
    }
  }
}

HWY_INLINE const char* PanelBytes(const PackedTask& t, int64_t column) {
  const int64_t offset = column * t.K + t.depths.begin * kTileColumns;
  return static_cast<const char*>(t.weight) + offset * bytes_of(t.weight_dtype);
}

// Where the panel is read as f32.
HWY_INLINE const float* PanelFloats(const PackedTask& t, int64_t column) {
  const char* panel = PanelBytes(t, column);
  if (t.weight_dtype == DType::kF32) return reinterpret_cast<const float*>(panel);
  const int64_t count = t.depths.size() * kTileColumns;
  with_storage(t.weight_dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    CopyFloats(reinterpret_cast<const T*>(panel), count, t.panel);
  });
  return t.panel;
}

// The rows of a task against one panel. The sums are still in the L1 cache when they are activated.
template <class Activation>
HWY_INLINE void MultiplyPanel(const PackedTask& t, int64_t column, const Activation& activation) {
  const int64_t columns = HWY_MIN(kTileColumns, t.N - column);
  const bool is_first = t.depths.begin == 0;
  const bool activates = t.activation && t.depths.end == t.K;
  const float* bias = t.bias == nullptr ? kZeros : t.bias + column;
  PackedTile tile{.depth = t.depths.size(), .a = t.x, .b = PanelFloats(t, column)};
  tile.c_stride = t.N;
  tile.start_stride = is_first ? 0 : t.N;
  if (column + kTileColumns < t.columns.end) {
    // Every tile fetches its share of the next panel.
    const int64_t lines = kTileColumns * kFetchDepth * bytes_of(t.weight_dtype) / kLineBytes;
    tile.next = PanelBytes(t, column + kTileColumns);
    tile.next_lines = divide_up(lines, t.tiles.count);
  }
  for (int64_t i = 0; i < t.tiles.count; ++i, tile.a += kTileRows * tile.depth) {
    const int64_t height = t.tiles.height(i);
    tile.c = t.y + t.tiles.begin(i) * t.N + column;
    tile.start = is_first ? bias : tile.c;
    AddTile(height, columns, tile);
    tile.next += tile.depth / kFetchDepth * tile.next_lines * kLineBytes;
    for (int64_t row = 0; activates && row < height; ++row) {
      float* y = tile.c + row * t.N;
      MapFloats(FloatTag(), columns, y, y, activation);
    }
  }
}

void MultiplyTask(const PackedTask& t) {
  WithActivation(FloatTag(), t.activation, [&](const auto& activation) HWY_ATTR {
    for (int64_t column = t.columns.begin; column < t.columns.end; column += kTileColumns) {
      MultiplyPanel(t, column, activation);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(PackRowsOfX);
HWY_EXPORT(MultiplyTask);

void pack_rows(const PackedRows& rows) { HWY_DYNAMIC_DISPATCH(PackRowsOfX)(rows); }
void multiply(const PackedTask& task) { HWY_DYNAMIC_DISPATCH(MultiplyTask)(task); }

}  // namespace cloze::backend::cpu
#endif
