// ProductPlan: how a product is cut into blocks that fit the caches, from its sizes alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/parallel.h"
#include "backend/cpu/product.h"

namespace cloze::backend::cpu {

struct TileSize {
  int64_t rows = 0;
  int64_t columns = 0;
};
// The register tile of the vector target in use.
TileSize register_tile();

struct ProductPlan {
  // A panel of B this deep stays in the L1 cache, a block of A this high in the L2 cache.
  static constexpr int64_t kMostDepth = 256;
  static constexpr int64_t kMostRows = 96;
  // Columns whose sums are finished before the next are begun.
  static constexpr int64_t kColumns = 256;
  // The part of B packed at a time stays in the last-level cache.
  static constexpr int64_t kPackedElements = int64_t{4} << 20;
  static constexpr int64_t kMostGroupDepth = 3072;

  TileSize tile;
  int64_t depth_block = 0;     // of the inner loop
  int64_t group_depth = 0;     // depth of B packed at a time; a multiple of depth_block
  int64_t packed_columns = 0;  // columns of B packed at a time; whole panels
  int64_t block_rows = 0;      // rows of a task; whole tiles
  int64_t copy_floats = 0;     // per thread: A of one task, if it has to be copied
  int64_t sums_floats = 0;     // per thread: sums of one task, if there is no c

  int64_t packed_floats() const { return group_depth * packed_columns; }
  int64_t thread_floats() const { return copy_floats + sums_floats; }
};

// A is copied into tiles when it is not f32, counts as another dtype, is stored [depth, m], or has
// long rows: reading as many streams as a tile has rows is slower than reading one, and long rows
// repay the copy.
inline bool copies_a(const ProductShape& shape, int64_t a_stride) {
  constexpr int64_t kLongRow = 512;
  return shape.a_is_transposed || shape.a_dtype != DType::kF32 || a_stride >= kLongRow;
}

// The products of a grouped convolution: slots of a sequence at a time, which stay in the L1 cache
// with their weights, and channels of a group that are summed side by side.
inline constexpr int64_t kConvolutionSlots = 128;
inline constexpr int64_t kConvolutionPanel = 16;

// Sums that only a sink takes cannot wait for a second group, so their depth is never divided.
ProductPlan plan_product(const ProductShape& shape, TileSize tile, bool divides_depth);

}  // namespace cloze::backend::cpu
