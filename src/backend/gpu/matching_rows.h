// Sums of the rows that have the same number, without atomics: for each row of a table, the rows p of
// dy with index[p] = row, in their order. So the result depends on the inputs alone.
//
// A block has a row of the table. Each of its warps looks through an equal part of the index, and
// its lanes hold columns; the parts are added in the order of the warps.
#pragma once

#include "backend/gpu/gpu.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// Where the index is cut in chunks, each has so many numbers at least.
inline constexpr int64_t kChunkNumbers = 256;

template <typename T, typename Out>
struct SumMatchingRows {
  static constexpr int kThreads = 128;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr int kLaneColumns = kThreads / kWarp;  // of a tile of kThreads columns
  struct Arguments {
    Global<const T> dy;           // [count, columns]
    Global<const int32_t> index;  // [count]
    Global<const int32_t>
        starts;       // its last element says how many of the count there are; optional
    Global<Out> out;  // [chunks, rows, columns]: each from an equal part of the index
    int64_t rows, columns, count, num_starts, chunks;
    bool accumulates;
  };
  struct Shared {
    Cell<int32_t> matches[kWarps];  // whether the warp has any
    Cell<float> sums[kWarps][kThreads];
  };
  // The part of the index that a warp looks through.
  struct Part {
    int64_t begin, end;
  };

  CLOZE_DEVICE static Part part_of(const Arguments& in) {
    const int64_t parts = in.chunks * kWarps;
    const int64_t used = in.starts ? in.starts.load(in.num_starts - 1) : in.count;
    const int64_t size = (in.count + parts - 1) / parts;
    const int64_t begin = (block_y() * kWarps + warp()) * size;
    return {begin, begin + size < used ? begin + size : used};
  }

  // Calls visit(bits) for each 32 of the part's numbers: bit l says that number `first` + l matches.
  template <typename Visit>
  CLOZE_DEVICE static void visit_matches(const Arguments& in, const Part& part,
                                         const Visit& visit) {
    for (int64_t first = part.begin; first < part.end; first += kWarp) {
      const int64_t p = first + lane();
      const uint32_t bits = ballot(p < part.end && in.index.load(p) == block());
      visit(first, bits);
    }
  }

  // The sums of the warp's part, for columns `first` + lane + 32 i.
  CLOZE_DEVICE static void sum_tile(const Arguments& in, const Part& part, int64_t first,
                                    Cell<float>* sums) {
    float lane_sums[kLaneColumns] = {};
    visit_matches(in, part, [&](int64_t p, uint32_t bits) {
      for (; bits != 0; bits >>= 1, ++p) {
        if ((bits & 1u) == 0) continue;
        CLOZE_UNROLL
        for (int i = 0; i < kLaneColumns; ++i) {
          const int64_t column = first + i * kWarp + lane();
          if (column < in.columns) lane_sums[i] += to_float(in.dy.load(p * in.columns + column));
        }
      }
    });
    CLOZE_UNROLL
    for (int i = 0; i < kLaneColumns; ++i) sums[i * kWarp + lane()].put(lane_sums[i]);
  }

  CLOZE_DEVICE static void store(const Arguments& in, int64_t column, float sum) {
    if (column >= in.columns) return;
    const int64_t at = (block_y() * in.rows + block()) * in.columns + column;
    if (in.accumulates) sum += to_float(in.out.load(at));
    in.out.store(at, from_float<Out>(sum));
  }

  CLOZE_DEVICE static void run(const Arguments& in) {
    Shared& memory = shared<Shared>();
    const Part part = part_of(in);
    uint32_t any = 0;
    visit_matches(in, part, [&](int64_t, uint32_t bits) { any |= bits; });
    if (lane() == 0) memory.matches[warp()].put(any != 0 ? 1 : 0);
    sync_block();
    int matches = 0;
    for (int w = 0; w < kWarps; ++w) matches |= memory.matches[w].get();
    for (int64_t first = 0; first < in.columns; first += kThreads) {
      if (matches == 0) {
        store(in, first + thread(), 0.0f);
        continue;
      }
      sum_tile(in, part, first, memory.sums[warp()]);
      sync_block();
      float sum = 0.0f;
      for (int w = 0; w < kWarps; ++w) sum += memory.sums[w][thread()].get();
      store(in, first + thread(), sum);
      sync_block();
    }
  }
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
