#include "backend/cpu/native/pair_product.h"

#include <immintrin.h>

#include <cstring>

#include "backend/cpu/instruction_set.h"

namespace cloze::backend::cpu {
namespace {

PairUnits find_units() {
  if (!uses(InstructionSet::kAvx512Bf16)) return PairUnits::kNone;
  return uses(InstructionSet::kAmx) ? PairUnits::kTiles : PairUnits::kDotProducts;
}

// Both units take two panels of columns at a time; tiles are of 16 rows and 16 pairs, dot products
// of 8 rows.
constexpr int64_t kTileRows = 16;
constexpr int64_t kTilePairs = 16;
constexpr int64_t kDotProductRows = 8;
static_assert(kPairProductRows == 2 * kTileRows && kPairProductRows % kDotProductRows == 0);
static_assert(kPairStep % (2 * kPairPanelColumns) == 0 && kPairStep % (2 * kTilePairs) == 0);

// What LDTILECFG reads: eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

// Static, as GCC 12 assumes that LDTILECFG reads only the first bytes of its operand (GCC bug
// 114098).
constexpr TileShapes kTileShapes;

__attribute__((target("amx-tile"))) void hold_tiles() { _tile_loadconfig(&kTileShapes); }

__attribute__((target("amx-tile"))) void release_tiles() { _tile_release(); }

// The products are of kPairProductRows rows. Two tiles of rows by two of columns.
__attribute__((target("amx-tile,amx-bf16"))) void multiply_in_tiles(const PairProduct& p) {
  const int64_t a_bytes = p.a_stride * int64_t{sizeof(bfloat16)};
  const int64_t c_bytes = p.columns * int64_t{sizeof(float)};
  constexpr int64_t kPairBytes = kPanelPair * int64_t{sizeof(bfloat16)};
  for (int64_t column = 0; column < p.columns; column += 2 * kPairPanelColumns) {
    const bfloat16* left = p.b + column * p.depth;
    const bfloat16* right = left + kPairPanelColumns * p.depth;
    float* c = p.c + column;
    float* below = c + kTileRows * p.columns;
    if (p.accumulates) {
      _tile_loadd(0, c, c_bytes);
      _tile_loadd(1, c + kPairPanelColumns, c_bytes);
      _tile_loadd(2, below, c_bytes);
      _tile_loadd(3, below + kPairPanelColumns, c_bytes);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    for (int64_t k = 0; k < p.depth; k += 2 * kTilePairs) {
      _tile_loadd(4, p.a + k, a_bytes);
      _tile_loadd(5, p.a + kTileRows * p.a_stride + k, a_bytes);
      _tile_loadd(6, left + k * kPairPanelColumns, kPairBytes);
      _tile_loadd(7, right + k * kPairPanelColumns, kPairBytes);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, c_bytes);
    _tile_stored(1, c + kPairPanelColumns, c_bytes);
    _tile_stored(2, below, c_bytes);
    _tile_stored(3, below + kPairPanelColumns, c_bytes);
  }
}

// A line is prefetched for every kDepthOfLine of the depth.
constexpr int64_t kDepthOfLine = 4;
static_assert(kPairStep % kDepthOfLine == 0);

// The lines that a tile of dot products prefetches.
struct Lines {
  const char* next = nullptr;
  // In bytes. 0: the queue is empty, and `next`, which is in the cache anyway, is prefetched again
  // and again.
  int64_t step = 0;
};
Lines lines_beside(const PairProduct& p) {
  if (p.queue->is_empty()) return {reinterpret_cast<const char*>(p.b)};
  return {p.queue->take(p.depth / kDepthOfLine), kLineBytes};
}

// Eight rows by two panels: sixteen sums, which stay in registers.
template <bool kFetches>
__attribute__((target("avx512f,avx512bf16"))) void multiply_by_dot_products(const PairProduct& p) {
  constexpr int64_t kRows = kDotProductRows;
  for (int64_t column = 0; column < p.columns; column += 2 * kPairPanelColumns) {
    for (int64_t row = 0; row < kPairProductRows; row += kRows) {
      const bfloat16* left = p.b + column * p.depth;
      const bfloat16* right = left + kPairPanelColumns * p.depth;
      const bfloat16* a = p.a + row * p.a_stride;
      float* c = p.c + row * p.columns + column;
      __m512 sums[kRows][2];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < 2; ++j) {
          sums[i][j] = p.accumulates ? _mm512_loadu_ps(c + i * p.columns + j * kPairPanelColumns)
                                     : _mm512_setzero_ps();
        }
      }
      Lines lines;
      if constexpr (kFetches) lines = lines_beside(p);
      for (int64_t k = 0; k < p.depth; k += 2, left += kPanelPair, right += kPanelPair) {
        if (kFetches && k % kDepthOfLine == 0) {
          __builtin_prefetch(lines.next, 0, 2);  // into the L2 cache
          lines.next += lines.step;
        }
        const auto b0 = reinterpret_cast<__m512bh>(_mm512_load_si512(left));
        const auto b1 = reinterpret_cast<__m512bh>(_mm512_load_si512(right));
#pragma GCC unroll 8
        for (int64_t i = 0; i < kRows; ++i) {
          int pair;
          std::memcpy(&pair, a + i * p.a_stride + k, sizeof pair);
          const auto value = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
          sums[i][0] = _mm512_dpbf16_ps(sums[i][0], value, b0);
          sums[i][1] = _mm512_dpbf16_ps(sums[i][1], value, b1);
        }
      }
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows; ++i) {
        _mm512_storeu_ps(c + i * p.columns, sums[i][0]);
        _mm512_storeu_ps(c + i * p.columns + kPairPanelColumns, sums[i][1]);
      }
    }
  }
}

void multiply_in_loops(const PairProduct& p) {
  for (int64_t i = 0; i < kPairProductRows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j) {
      const bfloat16* panel = p.b + j / kPairPanelColumns * kPairPanelColumns * p.depth;
      float sum = p.accumulates ? p.c[i * p.columns + j] : 0.0f;
      for (int64_t k = 0; k < p.depth; ++k) {
        const bfloat16 b = panel[k / 2 * kPanelPair + j % kPairPanelColumns * 2 + k % 2];
        sum += static_cast<float>(p.a[i * p.a_stride + k]) * static_cast<float>(b);
      }
      p.c[i * p.columns + j] = sum;
    }
  }
}

}  // namespace

PairUnits pair_units() {
  static const PairUnits units = find_units();
  return units;
}

PairMultiplier::PairMultiplier(PairUnits units) : units_(units) {
  if (units_ == PairUnits::kTiles) hold_tiles();
}

PairMultiplier::~PairMultiplier() {
  if (units_ == PairUnits::kTiles) release_tiles();
}

void PairMultiplier::multiply(const PairProduct& product) const {
  PairProduct part = product;
  for (int64_t row = 0; row < product.rows; row += kPairProductRows) {
    part.a = product.a + row * product.a_stride;
    part.c = product.c + row * product.columns;
    multiply_part(part);
  }
}

void PairMultiplier::multiply_part(const PairProduct& part) const {
  switch (units_) {
    case PairUnits::kTiles:
      return multiply_in_tiles(part);
    case PairUnits::kDotProducts:
      return part.queue == nullptr ? multiply_by_dot_products<false>(part)
                                   : multiply_by_dot_products<true>(part);
    case PairUnits::kNone:
      return multiply_in_loops(part);
  }
}

}  // namespace cloze::backend::cpu
