#include "backend/cpu/native/pair_packing.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/native/pair_packing.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"

#ifndef CLOZE_BACKEND_CPU_NATIVE_PAIR_PACKING_ONCE_
#define CLOZE_BACKEND_CPU_NATIVE_PAIR_PACKING_ONCE_
namespace cloze::backend::cpu {

// Where column j of the panels begins.
inline bfloat16* panel_column(const PairPanels& p, int64_t j) {
  const int64_t inside = j % p.panel_columns;
  return p.panels + (j - inside) * p.depth + 2 * inside;
}

// Two neighbours, moved as if they were a float.
struct PairAsFloat {
  bfloat16 halves[2];
  operator float() const {
    float bits;
    std::memcpy(&bits, halves, sizeof bits);
    return bits;
  }
};
static_assert(sizeof(PairAsFloat) == sizeof(float));

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

static_assert(kPairPanelColumns % kLanes == 0, "a vector would reach the next panel");

template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const PairAsFloat* HWY_RESTRICT from, Whole) {
  return hn::LoadU(d, reinterpret_cast<const float*>(from));
}

HWY_INLINE void CopyHalves(const bfloat16* from, int64_t n, bfloat16* to) {
  std::copy_n(from, n, to);
}
HWY_INLINE void CopyHalves(const float* from, int64_t n, bfloat16* to) { CopyFloats(from, n, to); }

template <typename T>
HWY_INLINE void PackRowsOf(const MatrixRows<T>& from, int64_t rows, int64_t depth, bfloat16* to) {
  for (int64_t i = 0; i < from.count; ++i, to += depth) {
    CopyHalves(from.rows + i * from.stride, from.width, to);
    std::fill(to + from.width, to + depth, bfloat16());
  }
  std::fill_n(to, (rows - from.count) * depth, bfloat16());
}

// Two rows, of which the second may be missing, become pairs: `columns` of them, whole vectors or a
// part of one.
template <typename T, class VectorPart>
HWY_INLINE void PackTwoRows(const T* first, const T* second, int64_t columns, VectorPart part,
                            bfloat16* HWY_RESTRICT to) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> words;
  for (int64_t j = 0; j < columns; j += kLanes) {
    // bf16 is the upper half of f32.
    auto pair = hn::ShiftRight<16>(hn::BitCast(words, LoadFloats(d, first + j, part)));
    if (second != nullptr) {
      pair = hn::Or(pair, hn::BitCast(words, LoadFloats(d, second + j, part)));
    }
    hn::StoreU(pair, words, reinterpret_cast<uint32_t*>(to + 2 * j));
  }
}

// A panel, with as many columns as there are from `from` on.
template <typename T>
HWY_INLINE void PackPanelOfPairs(const MatrixRows<T>& from, const PairPanels& panels,
                                 bfloat16* HWY_RESTRICT to) {
  const int64_t width = HWY_MIN(from.width, panels.panel_columns);
  const int64_t whole = width / kLanes * kLanes;
  const int64_t begun = width > whole ? kLanes : 0;
  const Tail tail{static_cast<size_t>(width - whole)};
  const int64_t pair = 2 * panels.panel_columns;
  for (int64_t k = 0; k < from.count; k += 2, to += pair) {
    const T* first = from.rows + k * from.stride;
    const T* second = k + 1 < from.count ? first + from.stride : nullptr;
    PackTwoRows(first, second, whole, Whole{}, to);
    if (begun > 0) {
      PackTwoRows(first + whole, second == nullptr ? second : second + whole, begun, tail,
                  to + 2 * whole);
    }
    std::fill(to + 2 * (whole + begun), to + pair, bfloat16());
  }
  std::fill_n(to, panels.depth * panels.panel_columns - (from.count + 1) / 2 * pair, bfloat16());
}

template <typename T>
HWY_INLINE void PackPairs(const MatrixRows<T>& from, const PairPanels& to) {
  for (int64_t j = 0; j < to.columns; j += to.panel_columns) {
    MatrixRows<T> part = from;
    part.width = HWY_MAX(from.width - j, 0);
    part.rows += part.width > 0 ? j : 0;
    PackPanelOfPairs(part, to, to.panels + j * to.depth);
  }
}

// Rows, at most kLanes, become columns of a panel. A few of their elements at a time are rounded
// into a buffer, padded with zeros after the last.
template <typename T>
HWY_INLINE void PackColumns(const MatrixRows<T>& from, const PairPanels& panels, bfloat16* to) {
  constexpr int64_t kElements = 128;
  HWY_ALIGN bfloat16 rounded[kLanes * kElements];
  const PairAsFloat* rows[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    rows[i] = reinterpret_cast<const PairAsFloat*>(rounded + i * kElements);
  }
  for (int64_t k = 0; k < panels.depth; k += kElements) {
    const int64_t depth = HWY_MIN(kElements, panels.depth - k);
    const int64_t width = HWY_MIN(depth, HWY_MAX(from.width - k, 0));
    for (int64_t i = 0; i < from.count; ++i) {
      bfloat16* row = rounded + i * kElements;
      CopyHalves(from.rows + i * from.stride + k, width, row);
      std::fill(row + width, row + depth, bfloat16());
    }
    TransposeGroup(rows, depth / 2, static_cast<size_t>(from.count), kLanes, panels.panel_columns,
                   reinterpret_cast<float*>(to + k * panels.panel_columns));
  }
}

template <typename T>
HWY_INLINE void PackTransposedPairs(const MatrixRows<T>& from, const PairPanels& to) {
  for (int64_t j = 0; j < to.columns; j += kLanes) {
    MatrixRows<T> part = from;
    part.count = HWY_MIN(kLanes, HWY_MAX(from.count - j, 0));
    part.rows += part.count > 0 ? j * from.stride : 0;
    PackColumns(part, to, panel_column(to, j));
  }
}

// `columns` of a panel; each gets its pairs one after the other.
void transpose_panel(const bfloat16* panel, int64_t columns, int64_t depth, int64_t stride,
                     bfloat16* to) {
  for (int64_t pair = 0; pair < depth / 2; pair += kLanes) {
    const float* pairs[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
      pairs[i] = reinterpret_cast<const float*>(panel + (pair + i) * kPanelPair);
    }
    TransposeGroup(pairs, columns, kLanes, kLanes, stride / 2,
                   reinterpret_cast<float*>(to + 2 * pair));
  }
}

void pack_half_rows(const HalfRows& from, int64_t rows, int64_t depth, bfloat16* to) {
  PackRowsOf(from, rows, depth, to);
}
void pack_float_rows(const FloatRows& from, int64_t rows, int64_t depth, bfloat16* to) {
  PackRowsOf(from, rows, depth, to);
}
void pack_half_pairs(const HalfRows& from, const PairPanels& to) { PackPairs(from, to); }
void pack_float_pairs(const FloatRows& from, const PairPanels& to) {
  using Rounded = RoundedFloat<bfloat16>;
  PackPairs(MatrixRows<Rounded>{reinterpret_cast<const Rounded*>(from.rows), from.stride,
                                from.count, from.width},
            to);
}
void pack_transposed_half_pairs(const HalfRows& from, const PairPanels& to) {
  PackTransposedPairs(from, to);
}
void pack_transposed_float_pairs(const FloatRows& from, const PairPanels& to) {
  PackTransposedPairs(from, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_half_rows);
HWY_EXPORT(pack_float_rows);
HWY_EXPORT(pack_half_pairs);
HWY_EXPORT(pack_float_pairs);
HWY_EXPORT(pack_transposed_half_pairs);
HWY_EXPORT(pack_transposed_float_pairs);
HWY_EXPORT(transpose_panel);

void pack_rows(const HalfRows& from, int64_t rows, int64_t depth, bfloat16* to) {
  HWY_DYNAMIC_DISPATCH(pack_half_rows)(from, rows, depth, to);
}
void pack_rows(const FloatRows& from, int64_t rows, int64_t depth, bfloat16* to) {
  HWY_DYNAMIC_DISPATCH(pack_float_rows)(from, rows, depth, to);
}

void pack_pairs(const HalfRows& from, const PairPanels& to) {
  HWY_DYNAMIC_DISPATCH(pack_half_pairs)(from, to);
}
void pack_pairs(const FloatRows& from, const PairPanels& to) {
  HWY_DYNAMIC_DISPATCH(pack_float_pairs)(from, to);
}
void pack_transposed_pairs(const HalfRows& from, const PairPanels& to) {
  HWY_DYNAMIC_DISPATCH(pack_transposed_half_pairs)(from, to);
}
void pack_transposed_pairs(const FloatRows& from, const PairPanels& to) {
  HWY_DYNAMIC_DISPATCH(pack_transposed_float_pairs)(from, to);
}

void transpose_panels(const PairPanels& from, int64_t stride, bfloat16* to) {
  for (int64_t j = 0; j < from.columns; j += kPairPanelColumns) {
    HWY_DYNAMIC_DISPATCH(transpose_panel)
    (from.panels + j * from.depth, kPairPanelColumns, from.depth, stride, to + j * stride);
  }
}

}  // namespace cloze::backend::cpu
#endif
