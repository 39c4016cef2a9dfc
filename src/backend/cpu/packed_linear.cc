// packed_linear: a product whose B was packed when the weights were loaded. What is left of a call
// is to lay out x, and the inner loop: rows of x against panels of the weight, which come from
// memory once for all rows of a block, the next one on its way while one is multiplied.
//
// Sums are made in linear.cc's order, so both give the same bytes for an f32 weight.
#include "backend/cpu/packed_linear.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "base/bfloat16.h"
#include "ops/packed_linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/packed_linear.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_PACKED_LINEAR_ONCE_
#define CLOZE_BACKEND_CPU_PACKED_LINEAR_ONCE_
namespace cloze::backend::cpu {

// Rows of x in tiles of nearly the same height: a low one at the end would leave most of the
// multipliers idle.
struct RowTiles {
  int64_t rows = 0, count = 0;

  int64_t begin(int64_t tile) const { return rows * tile / count; }
  int64_t height(int64_t tile) const { return begin(tile + 1) - begin(tile); }
};

// A part of a call: rows x columns of y, whole panels.
struct PackedTask {
  int64_t N = 0, K = 0;
  int64_t depth_block = 0;
  int64_t row = 0;
  int64_t column = 0, columns = 0;
  RowTiles tiles;                   // of the rows
  const float* packed_x = nullptr;  // tile after tile, each [K, height of a full tile]
  const void* packed = nullptr;
  DType packed_dtype = DType::kF32;
  const float* bias = nullptr;  // may be null
  float* y = nullptr;
  std::optional<ops::GeluForm> activation;
  float* panel = nullptr;  // [depth_block, columns of a panel], for a weight that is not f32
};

// A tile of x to lay out.
struct RowTask {
  int64_t K = 0;
  const float* x = nullptr;
  int64_t rows = 0;
  float* packed = nullptr;
};

// Panels [begin, end) of a weight to pack.
struct PackTask {
  int64_t N = 0, K = 0;
  const float* weight = nullptr;
  void* packed = nullptr;
  DType packed_dtype = DType::kF32;
  Part panels;
  float* scratch = nullptr;  // [K, columns of a panel]
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

void pack_rows(const RowTask& t) { PackRows(t.x, t.K, t.K, t.rows, t.packed); }

void pack_panels(const PackTask& t) {
  const FloatTag d;
  for (int64_t p = t.panels.begin; p < t.panels.end; ++p) {
    const int64_t first = p * kTileColumns;
    const float* rows = t.weight + first * t.K;
    const int64_t columns = HWY_MIN(kTileColumns, t.N - first);
    if (t.packed_dtype == DType::kF32) {
      PackTransposedPanel(rows, t.K, t.K, columns, static_cast<float*>(t.packed) + first * t.K);
      continue;
    }
    PackTransposedPanel(rows, t.K, t.K, columns, t.scratch);
    MapFloats(d, kTileColumns * t.K, t.scratch, static_cast<bfloat16*>(t.packed) + first * t.K,
              [](FloatVector v) HWY_ATTR { return v; });
  }
}

// Asks for part `index` of `parts` of the floats of a panel.
HWY_INLINE void PrefetchShare(const float* panel, int64_t floats, int64_t index, int64_t parts) {
  constexpr int64_t kLineFloats = 16;
  const int64_t end = floats * (index + 1) / parts;
  for (int64_t i = floats * index / parts; i < end; i += kLineFloats) {
    hwy::Prefetch(panel + i);
  }
}

// The rows of a task against one panel. `next` is the panel to come, null for none.
HWY_INLINE void MultiplyPanel(const PackedTask& task, int64_t columns, const TileArguments& all,
                              const float* next) {
  const RowTiles& tiles = task.tiles;
  TileArguments t = all;
  for (int64_t i = 0; i < tiles.count; ++i) {
    t.a = all.a + i * kTileRows * task.K;
    t.c = all.c + tiles.begin(i) * all.c_stride;
    if (next != nullptr) PrefetchShare(next, t.depth * kTileColumns, i, tiles.count);
    MultiplyTile<RowLayout::kByDepth>(tiles.height(i), columns, t);
  }
}

// Where the depths [k, k + depth) of a panel of the weight are read as f32.
HWY_INLINE const float* PanelFloats(const PackedTask& t, int64_t column, int64_t k, int64_t depth) {
  const int64_t offset = column * t.K + k * kTileColumns;
  if (t.packed_dtype == DType::kF32) return static_cast<const float*>(t.packed) + offset;
  CopyFloats(static_cast<const bfloat16*>(t.packed) + offset, depth * kTileColumns, t.panel);
  return t.panel;
}

// y of a task, before bias and activation.
HWY_INLINE void MultiplyTask(const PackedTask& t) {
  TileArguments tile;
  tile.c_stride = t.N;
  for (int64_t k = 0; k < t.K; k += t.depth_block) {
    tile.depth = HWY_MIN(t.depth_block, t.K - k);
    tile.accumulates = k > 0;
    tile.a = t.packed_x + k * kTileRows;
    tile.a_stride = kTileRows;
    for (int64_t j = 0; j < t.columns; j += kTileColumns) {
      const int64_t column = t.column + j;
      tile.b = PanelFloats(t, column, k, tile.depth);
      tile.c = t.y + t.row * t.N + column;
      const bool has_next = t.packed_dtype == DType::kF32 && j + kTileColumns < t.columns;
      const float* next = has_next ? tile.b + t.K * kTileColumns : nullptr;
      MultiplyPanel(t, HWY_MIN(kTileColumns, t.columns - j), tile, next);
    }
  }
}

template <class Activation>
HWY_INLINE void FinishTask(const PackedTask& t, const Activation& activation) {
  const FloatTag d;
  const float* bias = t.bias == nullptr ? nullptr : t.bias + t.column;
  for (int64_t i = 0; i < t.tiles.rows; ++i) {
    float* y = t.y + (t.row + i) * t.N + t.column;
    ForEachVector(d, t.columns, [&](int64_t j, auto part) HWY_ATTR {
      FloatVector v = LoadFloats(d, y + j, part);
      if (bias != nullptr) v = hn::Add(v, LoadFloats(d, bias + j, part));
      StoreFloats(d, activation(v), y + j, part);
    });
  }
}

void run_packed_task(const PackedTask& t) {
  MultiplyTask(t);
  const FloatTag d;
  if (t.activation == ops::GeluForm::kErf) {
    FinishTask(t, [d](FloatVector v) HWY_ATTR { return GeluErf(d, v); });
  } else if (t.activation == ops::GeluForm::kTanh) {
    FinishTask(t, [d](FloatVector v) HWY_ATTR { return GeluTanh(d, v); });
  } else if (t.bias != nullptr) {
    FinishTask(t, [](FloatVector v) HWY_ATTR { return v; });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_rows);
HWY_EXPORT(pack_panels);
HWY_EXPORT(run_packed_task);

int64_t weight_panel_columns() { return register_tile().columns; }

namespace {

size_t float_bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

class PackWeight final : public Kernel {
 public:
  explicit PackWeight(const KernelRequest& request)
      : request_(request),
        work_{.items = request.outputs[0].shape[0], .num_threads = request.num_threads},
        scratch_floats_(request.outputs[0].shape[1] * request.outputs[0].shape[2]) {}

  size_t workspace_bytes() const override {
    return float_bytes(scratch_floats_) * num_parts(work_);
  }

  void run(const KernelArguments& arguments) override {
    for_each_part(work_, [&](const Part& panels) {
      PackTask task{request_.inputs[0].shape[0], request_.inputs[0].shape[1]};
      task.weight = arguments.input<float>(0);
      task.packed = arguments.output<void>(0);
      task.packed_dtype = request_.outputs[0].dtype;
      task.panels = panels;
      task.scratch = static_cast<float*>(arguments.workspace) + scratch_floats_ * panels.index;
      HWY_DYNAMIC_DISPATCH(pack_panels)(task);
    });
  }

 private:
  KernelRequest request_;
  Work work_;
  int64_t scratch_floats_;
};

class PackedLinear final : public Kernel {
 public:
  explicit PackedLinear(const KernelRequest& request)
      : request_(request),
        M_(request.inputs[0].shape[0]),
        K_(request.inputs[0].shape[1]),
        N_(request.outputs[0].shape[1]),
        panel_columns_(request.inputs[1].shape[2]) {
    depth_block_ = divide_up(K_, divide_up(K_, ProductPlan::kMostDepth));
    row_blocks_ = divide_up(M_, kMostRows);
    block_rows_ = divide_up(M_, row_blocks_);
    // Enough tasks that no thread waits long for the last.
    const int64_t wanted = request.num_threads == 1 ? 1 : 3 * request.num_threads;
    const int64_t panels = divide_up(divide_up(N_, divide_up(wanted, row_blocks_)), panel_columns_);
    block_columns_ = std::min(panels * panel_columns_, ProductPlan::kColumns);
    column_blocks_ = divide_up(N_, block_columns_);
    tile_rows_ = register_tile().rows;
    block_tiles_ = divide_up(block_rows_, tile_rows_);
  }

  size_t workspace_bytes() const override {
    return float_bytes(x_floats() + panel_floats() * request_.num_threads);
  }

  void run(const KernelArguments& arguments) override {
    const auto& attributes = request_.attributes_as<ops::PackedLinearAttributes>();
    float* packed_x = static_cast<float*>(arguments.workspace);
    pack_x(arguments.input<float>(0), packed_x);
    PackedTask all{N_, K_, depth_block_};
    all.packed = arguments.input<void>(1);
    all.packed_dtype = request_.inputs[1].dtype;
    all.bias = request_.inputs.size() == 3 ? arguments.input<float>(2) : nullptr;
    all.y = arguments.output<float>(0);
    all.activation = attributes.activation;
    // Blocks of rows follow each other for the same columns, whose weights are still in the cache.
    for_each_item(column_blocks_ * row_blocks_, request_.num_threads, [&](int64_t item) {
      PackedTask task = all;
      const int64_t block = item % row_blocks_;
      task.row = block * block_rows_;
      task.tiles = tiles_of(block);
      task.packed_x = packed_x + block * block_floats();
      task.column = item / row_blocks_ * block_columns_;
      task.columns = std::min(block_columns_, N_ - task.column);
      task.panel = packed_x + x_floats() + omp_get_thread_num() * panel_floats();
      HWY_DYNAMIC_DISPATCH(run_packed_task)(task);
    });
  }

 private:
  // A block of x this high, one block of the depth wide, stays in the second cache.
  static constexpr int64_t kMostRows = 192;

  int64_t panel_floats() const { return depth_block_ * panel_columns_; }
  int64_t block_floats() const { return round_up(block_tiles_ * tile_rows_ * K_, 16); }
  int64_t x_floats() const { return row_blocks_ * block_floats(); }
  int64_t rows_of(int64_t block) const { return std::min(block_rows_, M_ - block * block_rows_); }
  RowTiles tiles_of(int64_t block) const {
    return {rows_of(block), divide_up(rows_of(block), tile_rows_)};
  }

  // All of x, laid out once for all the columns.
  void pack_x(const float* x, float* packed_x) const {
    for_each_item(row_blocks_ * block_tiles_, request_.num_threads, [&](int64_t item) {
      const int64_t block = item / block_tiles_;
      const int64_t tile = item % block_tiles_;
      const RowTiles tiles = tiles_of(block);
      if (tile >= tiles.count) return;
      RowTask task{K_};
      task.x = x + (block * block_rows_ + tiles.begin(tile)) * K_;
      task.rows = tiles.height(tile);
      task.packed = packed_x + block * block_floats() + tile * tile_rows_ * K_;
      HWY_DYNAMIC_DISPATCH(pack_rows)(task);
    });
  }

  KernelRequest request_;
  int64_t M_, K_, N_, panel_columns_;
  int64_t depth_block_, row_blocks_, block_rows_, block_columns_, column_blocks_;
  int64_t tile_rows_, block_tiles_;
};

std::optional<std::string> refuse_other_panels(int64_t columns) {
  if (columns == weight_panel_columns()) return std::nullopt;
  return fmt::format("panels of {} columns, not of {}", columns, weight_panel_columns());
}

template <class K>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<K>(request);
}

}  // namespace

constinit const KernelEntry kPackWeightEntry{
    "cpu/pack_weight/panels",
    [](const KernelRequest& request) { return refuse_other_panels(request.outputs[0].shape[2]); },
    create<PackWeight>};
constinit const KernelEntry kPackedLinearEntry{
    "cpu/packed_linear/panels",
    [](const KernelRequest& request) { return refuse_other_panels(request.inputs[1].shape[2]); },
    create<PackedLinear>};

}  // namespace cloze::backend::cpu
#endif
