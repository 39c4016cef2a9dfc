// packed_linear: a product whose B was packed when the weights were loaded. What is left of a call
// is to lay out x, and the inner loop: rows of x against panels of the weight, which come from
// memory once for all rows of a block, the next one on its way while one is multiplied. Which parts
// of x meet which block of the weight says a scheme (packed_linear_scheme.h). A call goes in
// passes, a block of x each, so that what is laid out of x is still in the cache when it is
// multiplied.
//
// Source: Huang, Smith, Henry, van de Geijn, Strassen's Algorithm Reloaded, SC 2016, for adding a
// tile to all its places while it is in registers.
#include "backend/cpu/packed_linear.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/packed_linear_scheme.h"
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

// What all tasks of a call share. Parts are what the scheme cuts x, the weight and y into.
struct PackedCall {
  const std::vector<SchemeStep>* steps = nullptr;
  int64_t M = 0, N = 0;
  int64_t part_rows = 0, part_columns = 0;  // of y
  int64_t depth = 0;                        // of a part
  int64_t operand_floats = 0;               // of one operand
  DType packed_dtype = DType::kF32;
  int64_t packed_floats = 0;  // of one block of the weight
  std::optional<ops::GeluForm> activation;
};

// Rows x columns of every part of y, whole panels.
struct PackedTask {
  const PackedCall* call = nullptr;
  const void* packed = nullptr;
  const float* bias = nullptr;  // may be null
  float* y = nullptr;
  Part depths;  // of the pass
  int64_t row = 0;
  RowTiles tiles;
  const float* operands = nullptr;  // of these rows: tile after tile, each
                                    // [depths of the pass, height of a full tile]
  int64_t column = 0, columns = 0;
  float* panel = nullptr;  // [depths of the pass, columns of a panel], for a weight that is not f32
};

// A panel's place: which step reads it, from which column on.
struct PanelPlace {
  size_t step = 0;
  int64_t column = 0;
};

// A tile of every operand, from the same rows of every part of x.
struct TileSums {
  const float* x = nullptr;
  int64_t M = 0, K = 0;
  int64_t part_rows = 0, part_depth = 0;
  int64_t row = 0, rows = 0;  // of a part
  Part depths;
  std::span<const QuadrantTerms> operands;
  int num_parts = 0;
  float* scratch = nullptr;  // [4, kPackedDepth, kTileRows]
  float* packed = nullptr;   // of the first operand
  int64_t operand_floats = 0;
};

// What is laid out at a time: the parts of x, and what is fetched of them for the next time, stay
// in the first cache until their sums are made.
inline constexpr int64_t kPackedDepth = 32;

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// A part of x, for some of the depth, as a tile. Parts may end after the last row: zeros there.
// Fetches as much of the depth that comes next: rows lie too far apart for the processor to foresee
// it.
HWY_INLINE void PackPart(const TileSums& t, int part, int64_t begin, int64_t depth, float* to) {
  const int64_t row = part / 2 * t.part_rows + t.row;
  const int64_t rows = HWY_MIN(t.rows, t.M - row);
  if (rows <= 0) {
    std::fill_n(to, depth * kTileRows, 0.0f);
    return;
  }
  const float* x = t.x + row * t.K + part % 2 * t.part_depth + begin;
  for (int64_t i = 0; i < rows; ++i) FetchRow(x + i * t.K + depth, depth);
  PackRows(x, t.K, depth, rows, to);
}

// to[i] = the sum of what lies i after the start of two parts, times the parts' factors.
HWY_INLINE void SumPackedParts(const QuadrantTerms& terms, float* const* parts, int64_t count,
                               float* to) {
  const FloatTag d;
  const float* first = parts[terms.quadrant[0]];
  const float* second = parts[terms.quadrant[1]];
  const FloatVector first_factor = hn::Set(d, terms.factor[0]);
  const FloatVector second_factor = hn::Set(d, terms.factor[1]);
  ForEachVector(d, count, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector product = hn::Mul(first_factor, LoadFloats(d, first + i, part));
    StoreFloats(d, hn::MulAdd(second_factor, LoadFloats(d, second + i, part), product), to + i,
                part);
  });
}

// All operands of a tile: x is laid out once, a part that is an operand in its place, then added
// up.
void pack_tile(const TileSums& t) {
  for (int64_t k = t.depths.begin; k < t.depths.end; k += kPackedDepth) {
    const int64_t depth = HWY_MIN(kPackedDepth, t.depths.end - k);
    const int64_t count = depth * kTileRows;
    float* packed = t.packed + (k - t.depths.begin) * kTileRows;
    float* parts[4];
    for (int part = 0; part < 4; ++part) parts[part] = t.scratch + part * count;
    for (size_t i = 0; i < t.operands.size(); ++i) {
      const QuadrantTerms& terms = t.operands[i];
      if (terms.count == 1) parts[terms.quadrant[0]] = packed + i * t.operand_floats;
    }
    for (int part = 0; part < t.num_parts; ++part) PackPart(t, part, k, depth, parts[part]);
    for (size_t i = 0; i < t.operands.size(); ++i) {
      const QuadrantTerms& terms = t.operands[i];
      if (terms.count == 2) SumPackedParts(terms, parts, count, packed + i * t.operand_floats);
    }
  }
}

// Where a tile goes: C = factor * tile + start, as far as C has rows. start is C itself, or one row
// for all: the bias or zeros.
struct TileTarget {
  float* c = nullptr;
  int64_t rows = 0;
  float factor = 1.0f;
  const float* start = nullptr;
  int64_t start_stride = 0;
};
HWY_ALIGN inline constexpr float kZeros[kTileColumns] = {};
struct TileTargets {
  std::array<TileTarget, 2> targets;
  int64_t count = 0;
  int64_t stride = 0;
  const char* next = nullptr;  // as SumRows() takes them
  int64_t next_lines = 0;
};

// The sums of a tile, left and right half, which stay in registers. On the way, for every
// kFetchDepth of the depth, lines of what comes next are fetched and a row of each target: evenly,
// as more at a time would have to wait for each other.
inline constexpr int64_t kFetchDepth = 16;

template <int64_t kRows>
HWY_INLINE void SumRows(const TileArguments& t, const TileTargets& to, FloatVector (&left)[kRows],
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
  const char* next = to.next;
  int64_t row_offset = 0;
  int64_t k = 0;
  for (; k + kFetchDepth <= t.depth; k += kFetchDepth) {
    for (int64_t line = 0; line < to.next_lines; ++line, next += kLineBytes) hwy::Prefetch(next);
    if (k < kRows * kFetchDepth) {
      for (int64_t n = 0; n < to.count; ++n) {
        const float* row = to.targets[n].c + row_offset;
        hwy::Prefetch(row);
        hwy::Prefetch(row + kTileColumns - 1);
      }
      row_offset += to.stride;
    }
#pragma GCC unroll 4
    for (int64_t i = 0; i < kFetchDepth; ++i) step();
  }
  for (; k < t.depth; ++k) step();
}

template <int64_t kRows>
HWY_NOINLINE void AddRows(const TileArguments& t, const TileTargets& to) {
  const FloatTag d;
  FloatVector left[kRows];
  FloatVector right[kRows];
  SumRows<kRows>(t, to, left, right);
  for (int64_t n = 0; n < to.count; ++n) {
    const TileTarget& target = to.targets[n];
    const FloatVector factor = hn::Set(d, target.factor);
    const float* start = target.start;
    float* c = target.c;
#pragma GCC unroll 14
    for (int64_t i = 0; i < kRows; ++i, start += target.start_stride, c += to.stride) {
      if (i == target.rows) break;
      hn::StoreU(hn::MulAdd(factor, left[i], hn::LoadU(d, start)), d, c);
      hn::StoreU(hn::MulAdd(factor, right[i], hn::LoadU(d, start + kLanes)), d, c + kLanes);
    }
  }
}

template <int64_t kRows = kTileRows>
HWY_INLINE void AddRows(int64_t rows, const TileArguments& t, const TileTargets& to) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return AddRows<kRows - 1>(rows, t, to);
  }
  AddRows<kRows>(t, to);
}

// A tile whose columns may end inside the panel: goes through a full tile beside it.
HWY_INLINE void AddTile(int64_t rows, int64_t columns, const TileArguments& t,
                        const TileTargets& to) {
  if (columns == kTileColumns) return AddRows(rows, t, to);
  HWY_ALIGN float full[kTileRows * kTileColumns];
  TileTargets beside{.count = 1, .stride = kTileColumns};
  beside.targets[0] = {.c = full, .rows = rows, .start = kZeros};
  AddRows(rows, t, beside);
  for (int64_t n = 0; n < to.count; ++n) {
    const TileTarget& target = to.targets[n];
    for (int64_t i = 0; i < target.rows; ++i) {
      const float* start = target.start + i * target.start_stride;
      float* c = target.c + i * to.stride;
      for (int64_t j = 0; j < columns; ++j) {
        c[j] = target.factor * full[i * kTileColumns + j] + start[j];
      }
    }
  }
}

// The activation of a tile whose sums are done and still in the first cache.
template <class Activation>
HWY_INLINE void ActivateTile(int64_t rows, int64_t columns, const Activation& activation, float* y,
                             int64_t stride) {
  for (int64_t i = 0; i < rows; ++i, y += stride) {
    MapFloats(FloatTag(), columns, y, y, activation);
  }
}

// In elements, from the start of the packed weight.
HWY_INLINE int64_t PanelOffset(const PackedTask& t, const PanelPlace& at) {
  const PackedCall& call = *t.call;
  return (*call.steps)[at.step].block * call.packed_floats + (t.column + at.column) * call.depth +
         t.depths.begin * kTileColumns;
}

// Columns first, then the steps; false after the last.
HWY_INLINE bool MoveOn(const PackedTask& t, PanelPlace& at) {
  at.column += kTileColumns;
  if (at.column < t.columns) return true;
  at.column = 0;
  return ++at.step < t.call->steps->size();
}

HWY_INLINE const char* PanelBytes(const PackedTask& t, const PanelPlace& at) {
  const char* packed = static_cast<const char*>(t.packed);
  return packed + PanelOffset(t, at) * bytes_of(t.call->packed_dtype);
}

// Where the panel is read as f32.
HWY_INLINE const float* PanelFloats(const PackedTask& t, const PanelPlace& at, int64_t depth) {
  const char* panel = PanelBytes(t, at);
  if (t.call->packed_dtype == DType::kF32) return reinterpret_cast<const float*>(panel);
  CopyFloats(reinterpret_cast<const bfloat16*>(panel), depth * kTileColumns, t.panel);
  return t.panel;
}

// The panel to come, null for none.
HWY_INLINE const char* NextPanel(const PackedTask& t, PanelPlace at) {
  return MoveOn(t, at) ? PanelBytes(t, at) : nullptr;
}

// Where the first tile of a task goes in a step.
struct PanelTarget {
  TileTarget tile;
  int64_t rows = 0;  // of the task that the part has
  bool is_last = false;
};

HWY_INLINE PanelTarget TargetOf(const PackedTask& t, const PanelPlace& at,
                                const SchemeStep::Target& target) {
  const PackedCall& call = *t.call;
  const int64_t row = target.quadrant / 2 * call.part_rows + t.row;
  const int64_t column = target.quadrant % 2 * call.part_columns + t.column + at.column;
  TileTarget tile{.c = t.y + row * call.N + column, .factor = target.factor};
  if (!target.is_first || t.depths.begin > 0) {
    tile.start = tile.c;
    tile.start_stride = call.N;
  } else {
    tile.start = t.bias == nullptr ? kZeros : t.bias + column;
  }
  return {tile, call.M - row, target.is_last && t.depths.end == call.depth};
}

// The rows of a task against one panel.
template <class Activation>
HWY_INLINE void MultiplyPanel(const PackedTask& t, const PanelPlace& at,
                              const Activation& activation) {
  const PackedCall& call = *t.call;
  const SchemeStep& step = (*call.steps)[at.step];
  TileArguments tile;
  tile.depth = t.depths.size();
  tile.a = t.operands + step.operand * call.operand_floats;
  tile.b = PanelFloats(t, at, tile.depth);
  const PanelTarget targets[2] = {TargetOf(t, at, step.targets[0]),
                                  TargetOf(t, at, step.targets[1])};
  const int64_t columns = HWY_MIN(kTileColumns, call.part_columns - t.column - at.column);
  TileTargets to{{targets[0].tile, targets[1].tile}, step.num_targets, call.N};
  to.next = NextPanel(t, at);
  // Every tile fetches its share of it.
  const int64_t lines = kTileColumns * kFetchDepth * bytes_of(call.packed_dtype) / kLineBytes;
  to.next_lines = to.next == nullptr ? 0 : divide_up(lines, t.tiles.count);
  for (int64_t i = 0; i < t.tiles.count; ++i, tile.a += kTileRows * tile.depth) {
    const int64_t begin = t.tiles.begin(i);
    const int64_t height = t.tiles.height(i);
    for (int64_t n = 0; n < to.count; ++n) {
      const TileTarget& first = targets[n].tile;
      to.targets[n].c = first.c + begin * call.N;
      to.targets[n].start = first.start + begin * first.start_stride;
      to.targets[n].rows = HWY_MIN(height, targets[n].rows - begin);
    }
    AddTile(height, columns, tile, to);
    to.next += tile.depth / kFetchDepth * to.next_lines * kLineBytes;
    for (int64_t n = 0; n < to.count; ++n) {
      if (!targets[n].is_last || !call.activation) continue;
      ActivateTile(to.targets[n].rows, columns, activation, to.targets[n].c, call.N);
    }
  }
}

template <class Activation>
HWY_INLINE void RunTask(const PackedTask& t, const Activation& activation) {
  PanelPlace at;
  do {
    MultiplyPanel(t, at, activation);
  } while (MoveOn(t, at));
}

void run_packed_task(const PackedTask& t) {
  const FloatTag d;
  if (t.call->activation == ops::GeluForm::kErf) {
    RunTask(t, [d](FloatVector v) HWY_ATTR { return GeluErf(d, v); });
  } else if (t.call->activation == ops::GeluForm::kTanh) {
    RunTask(t, [d](FloatVector v) HWY_ATTR { return GeluTanh(d, v); });
  } else {
    RunTask(t, [](FloatVector v) HWY_ATTR { return v; });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_tile);
HWY_EXPORT(run_packed_task);

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
        has_bias_(std::ssize(request.inputs) > 1 + attributes_.num_weights),
        scheme_(scheme_of(request)),
        operands_(operands_of(scheme_)),
        steps_(steps_of(scheme_)),
        part_rows_(divide_up(M_, scheme_.row_parts)),
        part_columns_(N_ / scheme_.column_parts),
        depth_(K_ / scheme_.column_parts) {
    tile_rows_ = register_tile().rows;
    panel_columns_ = register_tile().columns;
    depth_block_ = divide_up(depth_, divide_up(K_, PackedLinearPlan::kMostDepth));
    row_blocks_ = divide_up(M_, PackedLinearPlan::kMostRows);
    pass_blocks_ = std::min<int64_t>(row_blocks_, request.num_threads);
    block_rows_ = divide_up(part_rows_, row_blocks_);
    block_tiles_ = divide_up(block_rows_, tile_rows_);
    share_columns();
  }

  size_t workspace_bytes() const override {
    return float_bytes(num_buffers() * buffer_floats() + thread_floats() * request_.num_threads);
  }

  void run(const KernelArguments& arguments, Stream&) override {
    PackedCall call{&steps_, M_, N_, part_rows_, part_columns_, depth_};
    call.operand_floats = operand_floats();
    call.packed_dtype = request_.inputs[1].dtype;
    call.packed_floats = round_up(part_columns_, panel_columns_) * depth_;
    call.activation = attributes_.activation;
    run_passes(arguments, call);
  }

 private:
  static const Scheme& scheme_of(const KernelRequest& request) {
    if (ops::layout_of(request.inputs[1].shape) == ops::WeightLayout::kPanels) return kOneProduct;
    return request.inputs[0].shape[0] < PackedLinearPlan::kLeastStrassenRows ? kFewRows : kStrassen;
  }

  int64_t num_operands() const { return std::ssize(scheme_.operands); }
  int64_t block_floats() const { return round_up(block_tiles_ * tile_rows_ * depth_block_, 16); }
  int64_t operand_floats() const { return pass_blocks_ * block_floats(); }
  int64_t buffer_floats() const { return num_operands() * operand_floats(); }
  int64_t num_buffers() const { return request_.num_threads == 1 ? 1 : 2; }
  int64_t thread_floats() const {
    return std::max(depth_block_ * panel_columns_, 4 * kPackedDepth * tile_rows_);
  }
  RowTiles tiles_of(int64_t block) const {
    const int64_t rows = std::min(block_rows_, part_rows_ - block * block_rows_);
    return {rows, divide_up(rows, tile_rows_)};
  }

  // Wide tasks first, as x is read anew for each; at the end narrow ones, so that no thread waits
  // long for the last.
  void share_columns() {
    const int64_t most = std::max<int64_t>(1, ProductPlan::kColumns / panel_columns_);
    const int64_t panels = divide_up(part_columns_, panel_columns_);
    for (int64_t panel = 0; panel < panels;) {
      const int64_t share = (panels - panel) / request_.num_threads;
      const int64_t count = std::clamp<int64_t>(share, 1, most);
      columns_.push_back({.begin = panel * panel_columns_,
                          .end = std::min((panel + count) * panel_columns_, part_columns_)});
      panel += count;
    }
  }

  // As many blocks of rows as there are threads, for some of the depth.
  struct Pass {
    Part blocks;
    Part depths;
    float* operands = nullptr;
  };

  int64_t depth_passes() const { return divide_up(depth_, depth_block_); }
  int64_t num_passes() const { return divide_up(row_blocks_, pass_blocks_) * depth_passes(); }

  Pass pass_of(const KernelArguments& arguments, int64_t index) const {
    const int64_t block = index / depth_passes() * pass_blocks_;
    const int64_t depth = index % depth_passes() * depth_block_;
    float* workspace = arguments.workspace.as<float>();
    return {.blocks = {block, std::min(block + pass_blocks_, row_blocks_)},
            .depths = {depth, std::min(depth + depth_block_, depth_)},
            .operands = workspace + index % num_buffers() * buffer_floats()};
  }

  float* scratch_of(const KernelArguments& arguments, int thread) const {
    float* workspace = arguments.workspace.as<float>();
    return workspace + num_buffers() * buffer_floats() + thread * thread_floats();
  }

  int64_t num_tiles(const Pass& pass) const { return pass.blocks.size() * block_tiles_; }
  int64_t num_tasks(const Pass& pass) const {
    return attributes_.num_weights * std::ssize(columns_) * pass.blocks.size();
  }

  // The operands of a pass are laid out, then multiplied with all of the weight that has this
  // depth. A thread that finds no more columns lays out the next pass, in the other buffer.
  void run_passes(const KernelArguments& arguments, const PackedCall& call) const {
    Pass pass = pass_of(arguments, 0);
    for_each_item(num_tiles(pass), request_.num_threads, [&](int64_t tile, int thread) {
      pack_operands(arguments, pass, tile, scratch_of(arguments, thread));
    });
    for (int64_t index = 1; index <= num_passes(); ++index) {
      const Pass next = pass_of(arguments, index);
      const int64_t tasks = num_tasks(pass);
      const int64_t tiles = index < num_passes() ? num_tiles(next) : 0;
      for_each_item(tasks + tiles, request_.num_threads, [&](int64_t item, int thread) {
        float* scratch = scratch_of(arguments, thread);
        if (item >= tasks) return pack_operands(arguments, next, item - tasks, scratch);
        PackedTask task{
            .call = &call, .depths = pass.depths, .operands = pass.operands, .panel = scratch};
        multiply(arguments, pass.blocks, item, task);
      });
      pass = next;
    }
  }

  void pack_operands(const KernelArguments& arguments, const Pass& pass, int64_t item,
                     float* scratch) const {
    const int64_t block = item / block_tiles_;
    const int64_t tile = item % block_tiles_;
    const RowTiles tiles = tiles_of(pass.blocks.begin + block);
    if (tile >= tiles.count) return;
    TileSums sums{arguments.input<float>(0), M_, K_, part_rows_, depth_};
    sums.row = (pass.blocks.begin + block) * block_rows_ + tiles.begin(tile);
    sums.rows = tiles.height(tile);
    sums.depths = pass.depths;
    sums.operands = operands_;
    sums.num_parts = scheme_.row_parts * scheme_.column_parts;
    sums.scratch = scratch;
    sums.packed = pass.operands + block * block_floats() + tile * tile_rows_ * pass.depths.size();
    sums.operand_floats = operand_floats();
    HWY_DYNAMIC_DISPATCH(pack_tile)(sums);
  }

  // Blocks of rows follow each other for the same columns, whose weights are still in the cache.
  void multiply(const KernelArguments& arguments, const Part& blocks, int64_t item,
                PackedTask task) const {
    const int64_t block = item % blocks.size();
    const int64_t item_columns = item / blocks.size();
    const Part& columns = columns_[item_columns % std::ssize(columns_)];
    const int64_t weight = item_columns / std::ssize(columns_);
    task.packed = arguments.input<void>(ops::packed_input(weight));
    if (has_bias_) task.bias = arguments.input<float>(ops::bias_input(attributes_, weight));
    task.y = arguments.output<float>(static_cast<size_t>(weight));
    task.row = (blocks.begin + block) * block_rows_;
    task.tiles = tiles_of(blocks.begin + block);
    task.operands += block * block_floats();
    task.column = columns.begin;
    task.columns = columns.size();
    HWY_DYNAMIC_DISPATCH(run_packed_task)(task);
  }

  KernelRequest request_;
  int64_t M_, K_, N_;
  ops::PackedLinearAttributes attributes_;
  bool has_bias_;
  const Scheme& scheme_;
  std::vector<QuadrantTerms> operands_;
  std::vector<SchemeStep> steps_;
  int64_t part_rows_, part_columns_, depth_;
  int64_t tile_rows_ = 0, panel_columns_ = 0, depth_block_ = 0;
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
