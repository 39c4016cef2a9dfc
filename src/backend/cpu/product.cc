#include "backend/cpu/product.h"

#include <algorithm>

#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"
#include "base/division.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/product.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"

#ifndef CLOZE_BACKEND_CPU_PRODUCT_ONCE_
#define CLOZE_BACKEND_CPU_PRODUCT_ONCE_
namespace cloze::backend::cpu {

// A part of a product: rows x columns of C, over a range of the depth whose B is packed.
struct ProductTask {
  const ProductShape* shape = nullptr;
  const ProductPlan* plan = nullptr;
  const ProductCall* call = nullptr;
  int64_t row = 0, rows = 0;
  int64_t column = 0, columns = 0;
  int64_t packed_column = 0;  // where the packed columns begin
  int64_t packed_width = 0;   // how many there are, in whole panels
  int64_t depth = 0, depth_end = 0;
  const float* packed = nullptr;
  float* copy = nullptr;
  float* sums = nullptr;
};

// A panel of the packed B.
struct PanelTask {
  const ProductShape* shape = nullptr;
  const ProductCall* call = nullptr;
  int64_t depth = 0, depth_end = 0;
  int64_t column = 0, columns = 0;
  float* panel = nullptr;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

TileSize tile_size() { return {kTileRows, kTileColumns}; }

// visit(Storage<T>()) for the type T of an operand's elements.
template <class Visit>
HWY_INLINE void with_operand(DType dtype, bool rounds, const Visit& visit) {
  with_storage(dtype, [&]<class T>(Storage<T> stored) HWY_ATTR {
    if constexpr (HalfFloat<T>) {
      if (rounds) return visit(Storage<RoundedFloat<T>>());
    }
    visit(stored);
  });
}

template <typename T>
void pack_b(const PanelTask& t) {
  const T* b = static_cast<const T*>(t.call->b);
  const int64_t stride = t.call->b_stride;
  const int64_t depth = t.depth_end - t.depth;
  if (t.shape->b_is_transposed) {
    PackTransposedPanel(b + t.column * stride + t.depth, stride, depth, t.columns, t.panel);
  } else {
    PackPanel(b + t.depth * stride + t.column, stride, depth, t.columns, t.panel);
  }
}

void pack_b_panel(const PanelTask& task) {
  with_operand(task.shape->b_dtype, task.shape->rounds_b,
               [&]<class T>(Storage<T>) HWY_ATTR { pack_b<T>(task); });
}

// Only a piece of each stored row is read, so the hardware does not prefetch the next one.
inline constexpr int64_t kRowsAhead = 8;

HWY_INLINE const float* as_floats(const float* row, int64_t, float*) { return row; }
template <typename T>
HWY_INLINE const float* as_floats(const T* row, int64_t count, float* buffer) {
  CopyFloats(row, count, buffer);
  return buffer;
}

// Both functions copy the task's part of A as f32: for each block of the depth, tile after tile,
// each [depth, kTileRows]. This one also computes the sums over the depth.
template <typename T>
void copy_columns(const ProductTask& t) {
  constexpr int64_t kWholeTiles = round_up(ProductPlan::kMostRows, kTileRows);
  HWY_ALIGN float buffer[kWholeTiles];
  HWY_ALIGN float sums[kWholeTiles];
  const bool wants_sums = t.call->row_sums != nullptr && t.column == 0;
  const T* from = static_cast<const T*>(t.call->a) + t.depth * t.call->a_stride + t.row;
  float* to = t.copy;
  for (int64_t k = t.depth; k < t.depth_end; k += t.plan->depth_block) {
    const int64_t depth = HWY_MIN(t.plan->depth_block, t.depth_end - k);
    std::fill(sums, sums + t.rows, 0.0f);
    for (int64_t i = 0; i < depth; ++i, from += t.call->a_stride) {
      FetchRow(from + kRowsAhead * t.call->a_stride, t.rows);
      const float* row = as_floats(from, t.rows, buffer);
      DealRow(row, t.rows, depth * kTileRows, i + 1 == depth, to + i * kTileRows);
      if (wants_sums) AddFloats(row, t.rows, sums);
    }
    to += depth * t.plan->block_rows;
    if (!wants_sums) continue;
    float* total = t.call->row_sums + t.row;
    const bool adds = k > 0 || t.call->adds_row_sums;
    for (int64_t j = 0; j < t.rows; ++j) total[j] = sums[j] + (adds ? total[j] : 0.0f);
  }
}

template <typename T>
void copy_rows(const ProductTask& t) {
  const int64_t stride = t.call->a_stride;
  const T* from = static_cast<const T*>(t.call->a) + t.row * stride;
  for (int64_t k = t.depth; k < t.depth_end; k += t.plan->depth_block) {
    const int64_t depth = HWY_MIN(t.plan->depth_block, t.depth_end - k);
    PackTiles(from + k, stride, depth, t.rows, t.copy + (k - t.depth) * t.plan->block_rows);
  }
}

template <typename T>
void copy_a_of(const ProductTask& t) {
  if (t.shape->a_is_transposed) return copy_columns<T>(t);
  copy_rows<T>(t);
}

void copy_a(const ProductTask& t) {
  with_operand(t.shape->a_dtype, t.shape->rounds_a,
               [&]<class T>(Storage<T>) HWY_ATTR { copy_a_of<T>(t); });
}

// All of the task's depth for a few columns, so that their sums stay in the cache.
void multiply_columns(const ProductTask& t, const ProductBlock& block) {
  TileArguments tile;
  tile.c = block.values;
  tile.c_stride = block.stride;
  for (int64_t k = t.depth; k < t.depth_end; k += t.plan->depth_block) {
    tile.depth = HWY_MIN(t.plan->depth_block, t.depth_end - k);
    tile.accumulates = k > 0 || t.call->accumulates;
    tile.b =
        t.packed + (k - t.depth) * t.packed_width + (block.column - t.packed_column) * tile.depth;
    if (t.copy != nullptr) {
      tile.a = t.copy + (k - t.depth) * t.plan->block_rows;
      tile.a_stride = kTileRows;
      tile.a_row_step = tile.depth;
      MultiplyPanels<RowLayout::kByDepth>(block.rows, block.columns, tile);
    } else {
      tile.a = static_cast<const float*>(t.call->a) + t.row * t.call->a_stride + k;
      tile.a_stride = tile.a_row_step = t.call->a_stride;
      MultiplyPanels<RowLayout::kByRow>(block.rows, block.columns, tile);
    }
  }
}

void run_task(const ProductTask& t) {
  const ProductCall& call = *t.call;
  if (t.copy != nullptr) copy_a(t);
  for (int64_t j = 0; j < t.columns; j += ProductPlan::kColumns) {
    ProductBlock block{t.row, t.rows, t.column + j, HWY_MIN(ProductPlan::kColumns, t.columns - j)};
    block.values = call.c == nullptr ? t.sums : call.c + t.row * call.c_stride + block.column;
    block.stride = call.c == nullptr ? ProductPlan::kColumns : call.c_stride;
    multiply_columns(t, block);
    if (call.sink != nullptr && t.depth_end == call.depth) call.sink->take(block);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(tile_size);
HWY_EXPORT(pack_b_panel);
HWY_EXPORT(run_task);

TileSize register_tile() { return HWY_DYNAMIC_DISPATCH(tile_size)(); }

namespace {

// One run of a product: what its threads share.
class ProductRun {
 public:
  ProductRun(const ProductShape& shape, const ProductPlan& plan, const ProductCall& call)
      : shape_(shape), plan_(plan), call_(call) {
    packed_ = static_cast<float*>(call.workspace);
    block_rows_ = shape.block_rows > 0 ? shape.block_rows : balanced_rows();
    row_blocks_ = divide_up(call.m, block_rows_);
  }

  void run() const {
    for (int64_t column = 0; column < call_.n; column += plan_.packed_columns) {
      const int64_t columns = std::min(plan_.packed_columns, call_.n - column);
      for (int64_t depth = 0; depth < call_.depth; depth += plan_.group_depth) {
        const int64_t depth_end = std::min(call_.depth, depth + plan_.group_depth);
        pack(column, columns, depth, depth_end);
        multiply(column, columns, depth, depth_end);
      }
    }
  }

 private:
  void pack(int64_t column, int64_t columns, int64_t depth, int64_t depth_end) const {
    const int64_t panels = divide_up(columns, plan_.tile.columns);
    const int64_t width = panels * plan_.tile.columns;
    const int64_t depth_blocks = divide_up(depth_end - depth, plan_.depth_block);
    for_each_item(panels * depth_blocks, shape_.num_threads, [&](int64_t item, int) {
      const int64_t offset = item / panels * plan_.depth_block;
      const int64_t j = item % panels * plan_.tile.columns;
      PanelTask task{&shape_, &call_};
      task.depth = depth + offset;
      task.depth_end = std::min(depth_end, task.depth + plan_.depth_block);
      task.column = column + j;
      task.columns = std::min(plan_.tile.columns, columns - j);
      task.panel = packed_ + offset * width + j * (task.depth_end - task.depth);
      HWY_DYNAMIC_DISPATCH(pack_b_panel)(task);
    });
  }

  void multiply(int64_t column, int64_t columns, int64_t depth, int64_t depth_end) const {
    const int64_t splits = column_splits(columns);
    const int64_t split_columns = round_up(divide_up(columns, splits), plan_.tile.columns);
    ProductTask all{&shape_, &plan_, &call_};
    all.packed_column = column;
    all.packed_width = round_up(columns, plan_.tile.columns);
    all.depth = depth;
    all.depth_end = depth_end;
    all.packed = packed_;
    for_each_item(row_blocks_ * splits, shape_.num_threads, [&](int64_t item, int thread) {
      ProductTask task = all;
      float* own = packed_ + plan_.packed_floats() + thread * plan_.thread_floats();
      task.copy = copies_a(shape_, call_.a_stride) ? own : nullptr;
      task.sums = own + plan_.copy_floats;
      task.row = item / splits * block_rows_;
      task.rows = std::min(block_rows_, call_.m - task.row);
      const int64_t j = item % splits * split_columns;
      if (j >= columns) return;
      task.column = column + j;
      task.columns = std::min(split_columns, columns - j);
      HWY_DYNAMIC_DISPATCH(run_task)(task);
    });
  }

  // The same number of blocks for each thread, each with as many rows as the cache allows.
  int64_t balanced_rows() const {
    const int64_t most = std::max<int64_t>(1, call_.m / plan_.tile.rows);
    const int64_t wanted = round_up(divide_up(call_.m, plan_.block_rows), shape_.num_threads);
    return round_up(divide_up(call_.m, std::min(most, wanted)), plan_.tile.rows);
  }

  // More tasks than row blocks when there are too few for the threads.
  int64_t column_splits(int64_t columns) const {
    if (shape_.num_threads == 1 || row_blocks_ >= 2 * shape_.num_threads) return 1;
    const int64_t wanted = divide_up(2 * shape_.num_threads, row_blocks_);
    return std::clamp<int64_t>(columns / (2 * plan_.tile.columns), 1, wanted);
  }

  const ProductShape& shape_;
  const ProductPlan& plan_;
  const ProductCall& call_;
  float* packed_ = nullptr;
  int64_t row_blocks_ = 0;
  int64_t block_rows_ = 0;
};

}  // namespace

ProductPlan plan_product(const ProductShape& shape, TileSize tile, bool divides_depth) {
  ProductPlan plan;
  plan.tile = tile;
  const int64_t depth = std::max<int64_t>(1, shape.depth);
  plan.depth_block = divide_up(depth, divide_up(depth, ProductPlan::kMostDepth));
  const int64_t group = divides_depth ? std::min(depth, ProductPlan::kMostGroupDepth) : depth;
  plan.group_depth = round_up(group, plan.depth_block);
  const int64_t columns = ProductPlan::kPackedElements / plan.group_depth;
  plan.packed_columns = round_up(std::clamp<int64_t>(columns, 1, shape.n), tile.columns);
  plan.block_rows = round_up(std::min(shape.m, ProductPlan::kMostRows), tile.rows);
  if (shape.block_rows > 0) plan.block_rows = round_up(shape.block_rows, tile.rows);
  plan.copy_floats = plan.block_rows * plan.group_depth;
  plan.sums_floats = plan.block_rows * ProductPlan::kColumns;
  return plan;
}

Product::Product(const ProductShape& shape) : shape_(shape) {
  CLOZE_CHECK(shape.m > 0 && shape.n > 0 && shape.depth > 0, "product of {} x {} x {}", shape.m,
              shape.n, shape.depth);
  CLOZE_CHECK(shape.block_rows <= ProductPlan::kMostRows, "a block of {} rows", shape.block_rows);
}

size_t Product::workspace_bytes() const {
  const ProductPlan plan = plan_product(shape_, register_tile(), shape_.a_is_transposed);
  const int64_t floats = plan.packed_floats() + shape_.num_threads * plan.thread_floats();
  return static_cast<size_t>(floats) * sizeof(float);
}

void Product::run(const ProductCall& call) const {
  if (call.m == 0 || call.n == 0) return;
  CLOZE_CHECK(call.m <= shape_.m && call.n <= shape_.n && call.depth <= shape_.depth,
              "a product of {} x {} x {} in a workspace for {} x {} x {}", call.m, call.n,
              call.depth, shape_.m, shape_.n, shape_.depth);
  const ProductPlan plan = plan_product(shape_, register_tile(), shape_.a_is_transposed);
  CLOZE_CHECK(call.c != nullptr || (call.sink != nullptr && call.depth <= plan.group_depth),
              "a product of depth {} needs a place for its sums", call.depth);
  ProductRun(shape_, plan, call).run();
}

}  // namespace cloze::backend::cpu
#endif
