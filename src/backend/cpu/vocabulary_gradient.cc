#include "backend/cpu/vocabulary_gradient.h"

#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/vocabulary_gradient.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"

#ifndef CLOZE_BACKEND_CPU_VOCABULARY_GRADIENT_ONCE_
#define CLOZE_BACKEND_CPU_VOCABULARY_GRADIENT_ONCE_
namespace cloze::backend::cpu {

static_assert(VocabularySoftmax::kMostColumns <= ProductPlan::kMostDepth &&
                  VocabularySoftmax::kChunkRows <= ProductPlan::kMostDepth,
              "a panel of x, or of the table, would not stay in the first cache");

struct VocabularyGradientBuffers {
  VocabularyGradientBuffers(const VocabularySizes& sizes, void* memory) : workspace(memory) {
    const TileSize tile = register_tile();
    const int64_t panels_width = round_up(sizes.width, tile.columns);
    slice_floats = sizes.columns * sizes.width;
    table_floats = VocabularySoftmax::kChunkRows * panels_width;
    tiles_floats = VocabularySoftmax::kChunkRows * round_up(sizes.columns, tile.rows);
    x = workspace.take<float>(sizes.columns * panels_width);
    slices = workspace.take<float>(sizes.slices() * slice_floats);
    table = workspace.take<float>(sizes.num_threads * table_floats);
    tiles = workspace.take<float>(sizes.num_threads * tiles_floats);
  }

  Workspace workspace;
  int64_t slice_floats, table_floats, tiles_floats;
  float* x;       // panels
  float* slices;  // dx of each
  float* table;   // a chunk in panels, per thread
  float* tiles;   // dlogits of a chunk as tiles of predictions, per thread
};

// Chunks [begin, end) of one slice.
struct VocabularySlice {
  const VocabularySizes* sizes = nullptr;
  const VocabularyBlock* block = nullptr;
  int64_t begin = 0, end = 0;
  const float* x = nullptr;
  float* dx = nullptr;
  float* table = nullptr;
  float* tiles = nullptr;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

void pack_x_panel(const VocabularySizes& sizes, const VocabularyBlock& block, int64_t column,
                  float* panels) {
  with_storage(sizes.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    PackPanel(static_cast<const T*>(block.x) + column, sizes.width, block.count,
              HWY_MIN(kTileColumns, sizes.width - column), panels + column * block.count);
  });
}

void pack_table(const VocabularySlice& t, int64_t row, int64_t rows) {
  const int64_t width = t.sizes->width;
  const float* from = t.block->table + row * width;
  with_storage(t.sizes->dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    if constexpr (HalfFloat<T>) {
      PackPanels(reinterpret_cast<const RoundedFloat<T>*>(from), width, rows, width, t.table);
    } else {
      PackPanels(from, width, rows, width, t.table);
    }
  });
}

// Of dlogits [rows, columns], tiles of [rows, kTileRows].
void deal_rows(const float* from, int64_t stride, int64_t rows, int64_t columns, float* tiles) {
  for (int64_t i = 0; i < rows; ++i) {
    DealRow(from + i * stride, columns, rows * kTileRows, i + 1 == rows, tiles + i * kTileRows);
  }
}

void multiply_slice(const VocabularySlice& t) {
  const VocabularySizes& sizes = *t.sizes;
  const VocabularyBlock& block = *t.block;
  for (int64_t c = t.begin; c < t.end; ++c) {
    const int64_t row = c * VocabularySoftmax::kChunkRows;
    const int64_t rows = sizes.rows(c);
    float* dlogits = block.logits + row * sizes.columns;
    block.softmax->apply_factors(
        {dlogits, dlogits, DType::kF32, sizes.columns, row, rows, block.dbias, block.adds_dbias});
    TileArguments dtable{block.count, dlogits, sizes.columns, sizes.columns, t.x};
    dtable.c = block.dtable + row * sizes.width;
    dtable.c_stride = sizes.width;
    dtable.accumulates = block.adds_dtable;
    MultiplyPanels<RowLayout::kByRow>(rows, sizes.width, dtable);

    deal_rows(dlogits, sizes.columns, rows, block.count, t.tiles);
    pack_table(t, row, rows);
    TileArguments dx{rows, t.tiles, kTileRows, rows, t.table};
    dx.c = t.dx;
    dx.c_stride = sizes.width;
    dx.accumulates = c > t.begin;
    MultiplyPanels<RowLayout::kByDepth>(block.count, sizes.width, dx);
  }
}

// Rows of dx.
void add_slice_rows(const VocabularySizes& sizes, const VocabularySlices& slices, const Part& rows,
                    void* dx) {
  const FloatTag d;
  with_storage(sizes.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      T* to = static_cast<T*>(dx) + row * sizes.width;
      ForEachVector(d, sizes.width, [&](int64_t i, auto lanes) HWY_ATTR {
        const float* from = slices.first + row * slices.stride + i;
        FloatVector sum = LoadFloats(d, from, lanes);
        for (int64_t s = 1; s < sizes.slices(); ++s) {
          sum = hn::Add(sum, LoadFloats(d, from + s * slices.slice_floats, lanes));
        }
        StoreFloats(d, sum, to + i, lanes);
      });
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_x_panel);
HWY_EXPORT(multiply_slice);
HWY_EXPORT(add_slice_rows);

void add_slices(const VocabularySizes& sizes, const VocabularySlices& slices,
                const VocabularyBlock& block) {
  for_each_part(row_work(block.count, sizes.width, sizes.num_threads), [&](const Part& rows) {
    HWY_DYNAMIC_DISPATCH(add_slice_rows)(sizes, slices, rows, block.dx);
  });
}

size_t VocabularyGradient::workspace_bytes() const {
  return VocabularyGradientBuffers(sizes_, nullptr).workspace.bytes();
}

void VocabularyGradient::run(const VocabularyBlock& block) const {
  const VocabularyGradientBuffers buffers(sizes_, block.workspace);
  const int64_t panel = register_tile().columns;
  for_each_item(divide_up(sizes_.width, panel), sizes_.num_threads, [&](int64_t item, int) {
    HWY_DYNAMIC_DISPATCH(pack_x_panel)(sizes_, block, item * panel, buffers.x);
  });
  const int64_t slices = sizes_.slices();
  for_each_item(slices, sizes_.num_threads, [&](int64_t item, int thread) {
    VocabularySlice slice{&sizes_, &block};
    slice.begin = sizes_.chunks() * item / slices;
    slice.end = sizes_.chunks() * (item + 1) / slices;
    slice.x = buffers.x;
    slice.dx = buffers.slices + item * buffers.slice_floats;
    slice.table = buffers.table + thread * buffers.table_floats;
    slice.tiles = buffers.tiles + thread * buffers.tiles_floats;
    HWY_DYNAMIC_DISPATCH(multiply_slice)(slice);
  });
  add_slices(sizes_, {buffers.slices, buffers.slice_floats, sizes_.width}, block);
}

}  // namespace cloze::backend::cpu
#endif
