// HeadTile: 64 rows of one head of a tensor [T, H] in bf16, in shared memory, and a warp's products
// with them. Sums of products lie in the registers of its lanes as multiply_add() (gpu.h) has them.
#pragma once

#include "backend/gpu/gpu.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

inline constexpr int kTileRows = 64;
inline constexpr int kWarpRows = 16;  // of a result, that a warp has
inline constexpr int kTileThreads = kTileRows / kWarpRows * kWarp;
inline constexpr int kTileBlocks = kTileRows / 8;  // of eight columns

// Sums [16, 8 n] of a warp. A lane has two halves of them: row lane / 4, and the row 8 further.
template <int n>
struct WarpSums {
  float x[n][4] = {};

  // The column of this lane's sum i of block j.
  CLOZE_DEVICE static int column(int j, int i) { return 8 * j + 2 * (lane() % 4) + i % 2; }

  // Calls visit(half, column, sum) for all sums of the lane.
  template <typename Visit>
  CLOZE_DEVICE void visit(const Visit& visit) {
    CLOZE_UNROLL
    for (int j = 0; j < n; ++j) {
      CLOZE_UNROLL
      for (int i = 0; i < 4; ++i) visit(i / 2, column(j, i), x[j][i]);
    }
  }
  // Calls visit(half, column, sum, the other's sum).
  template <typename Visit>
  CLOZE_DEVICE void visit_with(WarpSums& other, const Visit& visit) {
    CLOZE_UNROLL
    for (int j = 0; j < n; ++j) {
      CLOZE_UNROLL
      for (int i = 0; i < 4; ++i) visit(i / 2, column(j, i), x[j][i], other.x[j][i]);
    }
  }
};
using TileSums = WarpSums<kTileBlocks>;  // of the warp's rows with each row of a tile

// The left operand [16, 64] of a product, in bf16.
struct WarpFactors {
  uint32_t x[kTileRows / 16][4];

  CLOZE_DEVICE explicit WarpFactors(const TileSums& sums) {
    CLOZE_UNROLL
    for (int j = 0; j < kTileBlocks; ++j) {
      x[j / 2][2 * (j % 2)] = bf16_pair(sums.x[j][0], sums.x[j][1]);
      x[j / 2][2 * (j % 2) + 1] = bf16_pair(sums.x[j][2], sums.x[j][3]);
    }
  }
};

template <int kSize>
struct alignas(16) HeadTile {
  static constexpr int kPiece = 8;  // columns that are copied together: 16 bytes
  static constexpr int kPieces = kSize / kPiece;
  static_assert(kSize == 32 || kSize == 64);

  Cell<bf16> x[kTileRows * kSize];

  // The cell where a piece of a row begins. Pieces change places from row to row, so that the same
  // piece of eight rows lies in different banks.
  CLOZE_DEVICE static int place(int row, int piece) {
    constexpr int kRowsOfLine = 8 / kPieces;  // a line of all banks has 8 pieces
    return row * kSize + kPiece * (piece ^ (row / kRowsOfLine % kPieces));
  }

  // Begins to copy the rows from `first` on of a sequence that starts at slot `start`; those beyond
  // its length are zeros. All threads of the block call it.
  CLOZE_DEVICE void begin_copy(Global<const bf16> tensor, int64_t hidden, int64_t start, int length,
                               int first) {
    for (int i = thread(); i < kTileRows * kPieces; i += kTileThreads) {
      const int row = i / kPieces, piece = i % kPieces;
      const bool is_there = first + row < length;
      const int64_t slot = start + (is_there ? first + row : 0);
      x[place(row, piece)].begin_copy(tensor, slot * hidden + block_y() * kSize + kPiece * piece,
                                      is_there);
    }
  }

  // sums[i, j] += row i of the warp's in `left` . row j of this tile
  CLOZE_DEVICE void add_products(const HeadTile& left, TileSums& sums) const {
    const int top = kWarpRows * warp();
    CLOZE_UNROLL
    for (int k = 0; k < kSize / 16; ++k) {
      uint32_t a[4];
      load_matrices(a, left.x[place(top + lane() % 16, 2 * k + lane() / 16)]);
      CLOZE_UNROLL
      for (int j = 0; j < kTileBlocks / 2; ++j) {
        uint32_t b[4];
        const int row = 16 * j + lane() % 8 + lane() / 16 * 8;
        load_matrices(b, x[place(row, 2 * k + lane() / 8 % 2)]);
        multiply_add(sums.x[2 * j], a, b[0], b[1]);
        multiply_add(sums.x[2 * j + 1], a, b[2], b[3]);
      }
    }
  }

  // sums[i] += sum_j factors[i, j] row j of this tile
  CLOZE_DEVICE void add_weighted(const WarpFactors& factors, WarpSums<kPieces>& sums) const {
    CLOZE_UNROLL
    for (int k = 0; k < kTileRows / 16; ++k) {
      CLOZE_UNROLL
      for (int j = 0; j < kPieces / 2; ++j) {
        uint32_t b[4];
        load_transposed_matrices(b, x[place(16 * k + lane() % 16, 2 * j + lane() / 16)]);
        multiply_add(sums.x[2 * j], factors.x[k], b[0], b[1]);
        multiply_add(sums.x[2 * j + 1], factors.x[k], b[2], b[3]);
      }
    }
  }
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
