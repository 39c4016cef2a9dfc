// The inner loops of packed_linear (packed_linear.cc): rows of x laid out as tiles, and tiles
// against panels of a packed weight (ops/packed_linear.h), which come from memory once for all rows
// of a block: the next panel is fetched while one is multiplied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "backend/cpu/parallel.h"
#include "base/dtype.h"
#include "ops/gelu.h"

namespace cloze::backend::cpu {

// Rows in tiles of nearly the same height: a low one at the end would leave most of the
// multipliers idle.
struct RowTiles {
  int64_t rows = 0, count = 1;
  int64_t least = rows / count, higher = rows % count;  // the first ones are one row higher

  int64_t begin(int64_t tile) const { return least * tile + std::min(tile, higher); }
  int64_t height(int64_t tile) const { return least + (tile < higher ? 1 : 0); }
};

// Some of the depth of a few rows of x, to be laid out as a tile.
struct PackedRows {
  const float* x = nullptr;
  int64_t stride = 0;
  int64_t rows = 0, depth = 0;
  float* tile = nullptr;  // [depth, height of a full tile], zeros after the last row
};

// Rows of x, laid out, against some of the columns of the weight, over some of the depth.
struct PackedTask {
  const void* weight = nullptr;
  DType weight_dtype = DType::kF32;
  int64_t K = 0, N = 0;
  Part depths, columns;
  RowTiles tiles;
  const float* x = nullptr;     // tile after tile
  const float* bias = nullptr;  // may be null
  float* y = nullptr;           // from the first row on
  std::optional<ops::GeluForm> activation;
  float* panel = nullptr;  // [depths, columns of a panel], for a weight that is not f32
};

void pack_rows(const PackedRows& rows);

// y = activation(x weight^T + bias) once the depths reach K; until then y holds the sums.
void multiply(const PackedTask& task);

}  // namespace cloze::backend::cpu
