// Sums over the rows of a tensor, one or more for each column, without atomics: blocks sum chunks of
// rows, and then the chunks are added in their order. So the result depends on the shape alone.
//
//   struct Terms {
//     static constexpr int kSums = 2;
//     struct Inputs { Global<const float> x; int64_t columns; };
//     CLOZE_DEVICE static void add(const Inputs&, int64_t row, int64_t column, float (&sums)[2]);
//   };
//   sum_columns<Terms>(call, inputs, {rows, columns}, outputs_of<2>(call, {output 0, output 1}));
#pragma once

#include <algorithm>
#include <array>

#include "backend/gpu/call.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

struct SummedShape {
  int64_t rows = 0, columns = 0;

  static constexpr int64_t kChunkRows = 32;
  static constexpr int64_t kMostChunks = 64;
  int64_t chunks() const { return std::min(divide_up(rows, kChunkRows), kMostChunks); }
  // The number of elements, f32, in the parts of so many sums.
  int64_t part_elements(int sums) const { return sums * chunks() * columns; }
};

// A block sums 32 columns of a chunk; each of its warps takes every eighth row.
template <typename Terms>
struct SumChunk {
  static constexpr int kThreads = 256;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kSums = Terms::kSums;
  struct Arguments {
    typename Terms::Inputs inputs;
    Global<float> parts;  // [kSums, chunks, columns]
    int64_t rows, columns, chunks, chunk_rows;
  };
  struct Shared {
    Cell<float> sums[kWarps][kSums][kWarp];
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    Shared& memory = shared<Shared>();
    const int64_t column = block() * kWarp + lane();
    const int64_t begin = block_y() * in.chunk_rows;
    const int64_t end = begin + in.chunk_rows < in.rows ? begin + in.chunk_rows : in.rows;
    float sums[kSums] = {};
    if (column < in.columns) {
      for (int64_t row = begin + warp(); row < end; row += kWarps) {
        Terms::add(in.inputs, row, column, sums);
      }
    }
    CLOZE_UNROLL
    for (int s = 0; s < kSums; ++s) memory.sums[warp()][s][lane()].put(sums[s]);
    sync_block();
    if (warp() >= kSums || column >= in.columns) return;
    float sum = 0.0f;
    for (int w = 0; w < kWarps; ++w) sum += memory.sums[w][warp()][lane()].get();
    in.parts.store((warp() * in.chunks + block_y()) * in.columns + column, sum);
  }
};

// Adds the chunks of one sum.
struct AddChunks {
  static constexpr int kThreads = 128;
  struct Arguments {
    Global<const float> parts;  // [sums, chunks, columns]
    Global<float> sum;          // [columns]
    int64_t which, chunks, columns;
    bool accumulates;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t column = global_thread<AddChunks>();
    if (column >= in.columns) return;
    float sum = 0.0f;
    for (int64_t c = 0; c < in.chunks; ++c) {
      sum += in.parts.load((in.which * in.chunks + c) * in.columns + column);
    }
    in.sum.store(column, in.accumulates ? in.sum.load(column) + sum : sum);
  }
};

// Where the sums of all columns go.
struct ColumnSums {
  Global<float> sums;
  bool accumulates = false;
};
template <size_t n>
std::array<ColumnSums, n> outputs_of(const Call& call, const size_t (&outputs)[n]) {
  std::array<ColumnSums, n> all;
  for (size_t i = 0; i < n; ++i) {
    all[i] = {call.output<float>(outputs[i]), call.accumulates(outputs[i])};
  }
  return all;
}

// Takes part_elements() of the workspace, from this byte on.
template <typename Terms>
void sum_columns(const Call& call, const typename Terms::Inputs& inputs, const SummedShape& shape,
                 const std::array<ColumnSums, Terms::kSums>& to, int64_t workspace_offset = 0) {
  const int64_t chunks = shape.chunks();
  const int64_t elements = shape.part_elements(Terms::kSums);
  call.launch<SumChunk<Terms>>({divide_up(shape.columns, int64_t{kWarp}), chunks},
                               {inputs, call.workspace<float>(workspace_offset, elements),
                                shape.rows, shape.columns, chunks, divide_up(shape.rows, chunks)});
  for (size_t s = 0; s < to.size(); ++s) {
    call.launch<AddChunks>({divide_up(shape.columns, int64_t{AddChunks::kThreads})},
                           {call.workspace<const float>(workspace_offset, elements), to[s].sums,
                            static_cast<int64_t>(s), chunks, shape.columns, to[s].accumulates});
  }
}

// The sum over rows that are `stride` elements apart.
template <typename T>
struct RowTerms {
  static constexpr int kSums = 1;
  struct Inputs {
    Global<const T> x;
    int64_t stride;
  };
  CLOZE_DEVICE static void add(const Inputs& in, int64_t row, int64_t column, float (&sums)[1]) {
    sums[0] += to_float(in.x.load(row * in.stride + column));
  }
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
