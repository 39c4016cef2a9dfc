// packed_linear: a product whose B was packed when the weights were loaded. What is left of a call
// is to lay out x, and the inner loop: rows of x against panels of the weight, which come from
// memory once for all rows of a block, the next one on its way while one is multiplied. A call goes
// in passes, a block of x each, so that what is laid out of x is still in the cache when it is
// multiplied.
#include "backend/cpu/packed_linear.h"

#include <algorithm>
#include <vector>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "base/bfloat16.h"
#include "ops/packed_linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/packed_linear.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_PACKED_LINEAR_ONCE_
#define CLOZE_BACKEND_CPU_PACKED_LINEAR_ONCE_
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

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// A little of the depth at a time: it, and what is fetched of the rows for the next time, stay in
// the first cache until it is laid out. Rows lie too far apart for the processor to foresee it.
void pack_rows(const PackedRows& t) {
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
  const char* next = nullptr;  // what to fetch on the way, kFetchDepth by kFetchDepth
  int64_t next_lines = 0;      // each time
};
HWY_ALIGN inline constexpr float kZeros[kTileColumns] = {};

// The sums of a tile, left and right half, which stay in registers. On the way, for every
// kFetchDepth of the depth, lines of what comes next are fetched and a row of c: evenly, as more at
// a time would have to wait for each other.
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
  CopyFloats(reinterpret_cast<const bfloat16*>(panel), count, t.panel);
  return t.panel;
}

// The rows of a task against one panel. What is activated is still in the first cache.
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

void multiply_task(const PackedTask& t) {
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

HWY_EXPORT(pack_rows);
HWY_EXPORT(multiply_task);

namespace {

size_t float_bytes(int64_t floats) { return static_cast<size_t>(floats) * sizeof(float); }

class PackedLinear final : public Kernel {
 public:
  explicit PackedLinear(const KernelRequest& request)
      : request_(request),
        M_(request.inputs[0].shape[0]),
        K_(request.inputs[0].shape[1]),
        N_(request.outputs[0].shape[1]),
        attributes_(request.attributes_as<ops::PackedLinearAttributes>()),
        has_bias_(std::ssize(request.inputs) > 1 + attributes_.num_weights) {
    tile_ = register_tile();
    depth_block_ = divide_up(K_, divide_up(K_, PackedLinearPlan::kMostDepth));
    row_blocks_ = divide_up(M_, PackedLinearPlan::kMostRows);
    pass_blocks_ = std::min<int64_t>(row_blocks_, request.num_threads);
    block_rows_ = divide_up(M_, row_blocks_);
    block_tiles_ = divide_up(block_rows_, tile_.rows);
    share_columns();
  }

  size_t workspace_bytes() const override {
    return float_bytes(num_buffers() * buffer_floats() + thread_floats() * request_.num_threads);
  }

  // The rows of a pass are laid out, then multiplied with all of the weight that has this depth. A
  // thread that finds no more columns lays out the next pass, in the other buffer.
  void run(const KernelArguments& arguments, Stream&) override {
    Pass pass = pass_of(arguments, 0);
    for_each_item(num_tiles(pass), request_.num_threads,
                  [&](int64_t tile, int) { pack(arguments, pass, tile); });
    for (int64_t index = 1; index <= num_passes(); ++index) {
      const Pass next = pass_of(arguments, index);
      const int64_t tasks = num_tasks(pass);
      const int64_t tiles = index < num_passes() ? num_tiles(next) : 0;
      for_each_item(tasks + tiles, request_.num_threads, [&](int64_t item, int thread) {
        if (item >= tasks) return pack(arguments, next, item - tasks);
        multiply(arguments, pass, item, thread);
      });
      pass = next;
    }
  }

 private:
  int64_t block_floats() const { return round_up(block_tiles_ * tile_.rows * depth_block_, 16); }
  int64_t buffer_floats() const { return pass_blocks_ * block_floats(); }
  int64_t num_buffers() const { return request_.num_threads == 1 ? 1 : 2; }
  int64_t thread_floats() const { return depth_block_ * tile_.columns; }
  RowTiles tiles_of(int64_t block) const {
    const int64_t rows = std::min(block_rows_, M_ - block * block_rows_);
    return {rows, divide_up(rows, tile_.rows)};
  }

  // Wide tasks first, as x is read anew for each; at the end narrow ones, so that no thread waits
  // long for the last.
  void share_columns() {
    const int64_t most = std::max<int64_t>(1, ProductPlan::kColumns / tile_.columns);
    const int64_t panels = divide_up(N_, tile_.columns);
    for (int64_t panel = 0; panel < panels;) {
      const int64_t share = (panels - panel) / request_.num_threads;
      const int64_t count = std::clamp<int64_t>(share, 1, most);
      columns_.push_back(
          {.begin = panel * tile_.columns, .end = std::min((panel + count) * tile_.columns, N_)});
      panel += count;
    }
  }

  // As many blocks of rows as there are threads, for some of the depth.
  struct Pass {
    Part blocks;
    Part depths;
    float* x = nullptr;  // laid out, block after block
  };

  int64_t depth_passes() const { return divide_up(K_, depth_block_); }
  int64_t num_passes() const { return divide_up(row_blocks_, pass_blocks_) * depth_passes(); }

  Pass pass_of(const KernelArguments& arguments, int64_t index) const {
    const int64_t block = index / depth_passes() * pass_blocks_;
    const int64_t depth = index % depth_passes() * depth_block_;
    float* workspace = arguments.workspace.as<float>();
    return {.blocks = {block, std::min(block + pass_blocks_, row_blocks_)},
            .depths = {depth, std::min(depth + depth_block_, K_)},
            .x = workspace + index % num_buffers() * buffer_floats()};
  }

  int64_t num_tiles(const Pass& pass) const { return pass.blocks.size() * block_tiles_; }
  int64_t num_tasks(const Pass& pass) const {
    return attributes_.num_weights * std::ssize(columns_) * pass.blocks.size();
  }

  void pack(const KernelArguments& arguments, const Pass& pass, int64_t item) const {
    const int64_t block = item / block_tiles_;
    const int64_t tile = item % block_tiles_;
    const RowTiles tiles = tiles_of(pass.blocks.begin + block);
    if (tile >= tiles.count) return;
    const int64_t row = (pass.blocks.begin + block) * block_rows_ + tiles.begin(tile);
    const int64_t depth = pass.depths.size();
    HWY_DYNAMIC_DISPATCH(pack_rows)
    ({.x = arguments.input<float>(0) + row * K_ + pass.depths.begin,
      .stride = K_,
      .rows = tiles.height(tile),
      .depth = depth,
      .tile = pass.x + block * block_floats() + tile * tile_.rows * depth});
  }

  // Blocks of rows follow each other for the same columns, whose weights are still in the cache.
  void multiply(const KernelArguments& arguments, const Pass& pass, int64_t item,
                int thread) const {
    const int64_t block = item % pass.blocks.size();
    const int64_t item_columns = item / pass.blocks.size();
    const int64_t weight = item_columns / std::ssize(columns_);
    const int64_t row = (pass.blocks.begin + block) * block_rows_;
    PackedTask task{.weight = arguments.input<void>(ops::packed_input(weight)),
                    .weight_dtype = request_.inputs[1].dtype,
                    .K = K_,
                    .N = N_,
                    .depths = pass.depths,
                    .columns = columns_[item_columns % std::ssize(columns_)],
                    .tiles = tiles_of(pass.blocks.begin + block),
                    .x = pass.x + block * block_floats(),
                    .y = arguments.output<float>(static_cast<size_t>(weight)) + row * N_,
                    .activation = attributes_.activation};
    if (has_bias_) task.bias = arguments.input<float>(ops::bias_input(attributes_, weight));
    task.panel = arguments.workspace.as<float>() + num_buffers() * buffer_floats() +
                 thread * thread_floats();
    HWY_DYNAMIC_DISPATCH(multiply_task)(task);
  }

  KernelRequest request_;
  int64_t M_, K_, N_;
  ops::PackedLinearAttributes attributes_;
  bool has_bias_;
  TileSize tile_;
  int64_t depth_block_ = 0;
  int64_t row_blocks_ = 0, block_rows_ = 0, block_tiles_ = 0, pass_blocks_ = 0;
  std::vector<Part> columns_;  // of the tasks
};

}  // namespace

constinit const KernelEntry kPackedLinearEntry{
    "cpu/packed_linear/panels",
    [](const KernelRequest& request) { return refuse_other_panels(request.inputs[1].shape); },
    create_kernel<PackedLinear>};

}  // namespace cloze::backend::cpu
#endif
