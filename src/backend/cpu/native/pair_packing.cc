#include "backend/cpu/native/pair_packing.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/native/pair_packing.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"

#ifndef CLOZE_BACKEND_CPU_PAIR_PACKING_ONCE_
#define CLOZE_BACKEND_CPU_PAIR_PACKING_ONCE_
namespace cloze::backend::cpu {

// Where column j of the panels begins.
inline bfloat16* panel_column(bfloat16* panels, int64_t depth, int64_t j) {
  return panels + j / kPairPanelColumns * kPairPanelColumns * depth + j % kPairPanelColumns * 2;
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

template <typename T>
HWY_INLINE void PackRowsPadded(const MatrixRows<T>& from, int64_t rows, int64_t depth,
                               bfloat16* to) {
  for (int64_t i = 0; i < from.count; ++i, to += depth) {
    CopyFloats(from.rows + i * from.stride, from.width, to);
    std::fill(to + from.width, to + depth, bfloat16());
  }
  std::fill_n(to, (rows - from.count) * depth, bfloat16());
}

void pack_rows_of(const PairRows& from, int64_t rows, int64_t depth, bfloat16* to) {
  PackRowsPadded(from, rows, depth, to);
}

void pack_rounded_rows_of(const MatrixRows<float>& from, int64_t rows, int64_t depth,
                          bfloat16* to) {
  PackRowsPadded(from, rows, depth, to);
}

// Columns of one vector: [depth, kLanes] of which `count` rows and a part of the columns are there.
template <typename T, class VectorPart>
HWY_INLINE void PackVector(const MatrixRows<T>& from, VectorPart part, int64_t depth,
                           bfloat16* HWY_RESTRICT to) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> words;
  const auto row = [&](int64_t k) HWY_ATTR {
    if (k >= from.count) return hn::Zero(words);
    return hn::BitCast(words, LoadFloats(d, from.rows + k * from.stride, part));
  };
  for (int64_t k = 0; k < depth; k += 2, to += kPanelPair) {
    // bf16 is the upper half of f32.
    hn::StoreU(hn::Or(hn::ShiftRight<16>(row(k)), row(k + 1)), words,
               reinterpret_cast<uint32_t*>(to));
  }
}

template <typename T>
HWY_INLINE void PackPairs(const MatrixRows<T>& from, int64_t columns, int64_t depth,
                          bfloat16* panels) {
  for (int64_t j = 0; j < columns; j += kLanes) {
    bfloat16* const to = panel_column(panels, depth, j);
    MatrixRows<T> part = from;
    part.rows += j;
    if (j + kLanes <= from.width) {
      PackVector(part, Whole{}, depth, to);
    } else {
      part.count = j < from.width ? from.count : 0;
      PackVector(part, Tail{static_cast<size_t>(HWY_MAX(from.width - j, 0))}, depth, to);
    }
  }
}

void pack_pairs_of(const PairRows& from, int64_t columns, int64_t depth, bfloat16* panels) {
  PackPairs(from, columns, depth, panels);
}

void pack_rounded_pairs_of(const MatrixRows<float>& from, int64_t columns, int64_t depth,
                           bfloat16* panels) {
  using Rounded = RoundedFloat<bfloat16>;
  PackPairs(MatrixRows<Rounded>{reinterpret_cast<const Rounded*>(from.rows), from.stride,
                                from.count, from.width},
            columns, depth, panels);
}

// Whole pairs of rows [count, 2 * pairs], up to a panel of them.
void transpose_pairs(const PairRows& from, int64_t pairs, bfloat16* panel) {
  for (int64_t j = 0; j < kPairPanelColumns; j += kLanes) {
    const PairAsFloat* rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
      rows[i] = reinterpret_cast<const PairAsFloat*>(from.rows +
                                                     HWY_MIN(j + i, from.count - 1) * from.stride);
    }
    TransposeGroup<kPairPanelColumns>(rows, pairs, HWY_MAX(from.count - j, 0), kLanes,
                                      reinterpret_cast<float*>(panel) + j);
  }
}

// `columns` of a panel, each with its pairs one after the other.
void transpose_panel(const bfloat16* panel, int64_t columns, int64_t depth, bfloat16* to) {
  TransposeRows<kTransposedDepth / 2>(reinterpret_cast<const float*>(panel), kPairPanelColumns,
                                      columns, depth / 2, reinterpret_cast<float*>(to));
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_rows_of);
HWY_EXPORT(pack_rounded_rows_of);
HWY_EXPORT(pack_pairs_of);
HWY_EXPORT(pack_rounded_pairs_of);
HWY_EXPORT(transpose_pairs);
HWY_EXPORT(transpose_panel);

void pack_rows(const PairRows& from, int64_t rows, int64_t depth, bfloat16* to) {
  HWY_DYNAMIC_DISPATCH(pack_rows_of)(from, rows, depth, to);
}

void pack_rounded_rows(const MatrixRows<float>& from, int64_t rows, int64_t depth, bfloat16* to) {
  HWY_DYNAMIC_DISPATCH(pack_rounded_rows_of)(from, rows, depth, to);
}

void pack_transposed_pairs(const PairRows& from, int64_t columns, int64_t depth, bfloat16* panels) {
  const int64_t pairs = from.width / 2;
  for (int64_t j = 0; j < columns; j += kPairPanelColumns) {
    bfloat16* const panel = panels + j * depth;
    const PairRows part{from.rows + j * from.stride, from.stride,
                        std::clamp<int64_t>(from.count - j, 0, kPairPanelColumns), from.width};
    const int64_t full = part.count > 0 ? pairs * kPanelPair : 0;
    if (full > 0) HWY_DYNAMIC_DISPATCH(transpose_pairs)(part, pairs, panel);
    std::fill(panel + full, panel + kPairPanelColumns * depth, bfloat16());
    if (from.width % 2 == 0) continue;
    for (int64_t i = 0; i < part.count; ++i) {
      panel[pairs * kPanelPair + 2 * i] = part.rows[i * part.stride + from.width - 1];
    }
  }
}

void pack_pairs(const PairRows& from, int64_t columns, int64_t depth, bfloat16* panels) {
  HWY_DYNAMIC_DISPATCH(pack_pairs_of)(from, columns, depth, panels);
}

void pack_rounded_pairs(const MatrixRows<float>& from, int64_t columns, int64_t depth,
                        bfloat16* panels) {
  HWY_DYNAMIC_DISPATCH(pack_rounded_pairs_of)(from, columns, depth, panels);
}

void transpose_panels(const bfloat16* panels, int64_t columns, int64_t depth, bfloat16* to) {
  for (int64_t j = 0; j < columns; j += kPairPanelColumns) {
    HWY_DYNAMIC_DISPATCH(transpose_panel)
    (panels + j * depth, kPairPanelColumns, depth, to + j * kTransposedDepth);
  }
}

}  // namespace cloze::backend::cpu
#endif
