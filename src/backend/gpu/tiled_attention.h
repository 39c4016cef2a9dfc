// Parts of the kernels of attention that multiply matrices: heads of 32 or 64 columns in bf16. A
// block has 64 queries, or 64 keys, of one head of a sequence, and goes over the sequence in tiles
// of 64.
#pragma once

#include <type_traits>

#include "backend/gpu/attention_sequences.h"
#include "backend/gpu/head_tile.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// The rows that a block has.
struct TilePlace {
  int64_t start;  // of the sequence
  int length;     // of the sequence
  int first;      // row, within the sequence; not below length: there is nothing to do
  bool is_used;   // false: these slots are after the last sequence
};

// Finds the rows of a block. Sequence s has the blocks from floor(starts[s] / 64) + s on: as many as
// it needs, or one more. The slots after the last sequence count as another one.
CLOZE_DEVICE TilePlace tile_place(const Sequences& in) {
  const auto first_block = [&](int64_t s) { return in.starts.load(s) / kTileRows + s; };
  int64_t s = 0, end = in.count + 1;
  while (end - s > 1) {
    const int64_t middle = (s + end) / 2;
    (first_block(middle) <= block() ? s : end) = middle;
  }
  const int64_t start = in.starts.load(s);
  const int64_t next = s < in.count ? in.starts.load(s + 1) : in.slots;
  return {start, static_cast<int>(next - start),
          static_cast<int>(block() - first_block(s)) * kTileRows, s < in.count};
}

// Begins to copy the rows from `first` on of the block's sequence and head. All threads of the block
// call it.
template <int kSize>
CLOZE_DEVICE void begin_copy(HeadTile<kSize>& to, const Global<const bf16>& from,
                             const Sequences& in, const TilePlace& place, int first) {
  to.begin_copy(from, in.heads * kSize, place.start, place.length, first);
}

// The masks of dropout between 64 queries and all keys of a sequence of up to 512: drawn once for
// all tiles of keys. Of a longer one each element is drawn by itself.
struct KeptBits {
  static constexpr int kMostCounters = 64;
  static constexpr int kWordCounters = 4;

  Cell<uint32_t> words[kTileRows][kMostCounters / kWordCounters];

  CLOZE_DEVICE static int counters(int length) { return (length + kHalves - 1) / kHalves; }
  CLOZE_DEVICE static bool is_drawn(const Sequences& in, int length) {
    return in.dropout.threshold != 0 && counters(length) <= kMostCounters;
  }

  // Draws those of the queries from `first` on. All threads of the block call it.
  CLOZE_DEVICE void draw(const Sequences& in, const TilePlace& place, int first) {
    if (!is_drawn(in, place.length)) return;
    const int row_words = (counters(place.length) + kWordCounters - 1) / kWordCounters;
    for (int i = thread(); i < kTileRows * row_words; i += kTileThreads) {
      const int row = i / row_words, word = i % row_words;
      const DropoutRow mask(in.dropout, place.start, dropout_row(block_y(), first + row));
      uint32_t bits = 0;
      for (int c = 0; c < kWordCounters; ++c) {
        bits |= mask.kept(static_cast<uint32_t>(kWordCounters * word + c)) << (kHalves * c);
      }
      words[row][word].put(bits);
    }
  }
};

// The factor of the probability of a query and a key: 0, or the scale of kept ones.
class KeptFactor {
 public:
  CLOZE_DEVICE KeptFactor(const Sequences& in, const KeptBits& bits, const TilePlace& place)
      : in_(in),
        bits_(bits),
        place_(place),
        is_drawn_(KeptBits::is_drawn(in, place.length)),
        counters_(KeptBits::counters(place.length)),
        inverse_((65536 + counters_ - 1) / counters_) {}
  // `row` of the bits is the query.
  CLOZE_DEVICE float of(int row, int query, int key) const {
    if (in_.dropout.threshold == 0) return 1.0f;
    if (!is_drawn_) return dropout_factor(in_, place_.start, place_.length, query, key);
    // key / counters, exactly for keys below 512.
    const int half = key * inverse_ >> 16;
    const int counter = key - half * counters_;
    const uint32_t word = bits_.words[row][counter / KeptBits::kWordCounters].get();
    const int bit = kHalves * (counter % KeptBits::kWordCounters) + half;
    return (word >> bit & 1u) != 0 ? in_.dropout.scale : 0.0f;
  }

 private:
  const Sequences& in_;
  const KeptBits& bits_;
  const TilePlace& place_;
  bool is_drawn_;
  int counters_, inverse_;
};

// The largest, or the sum, over the four lanes that have a row of sums.
CLOZE_DEVICE float row_largest(float x) {
  x = larger(x, shuffle_xor(x, 1));
  return larger(x, shuffle_xor(x, 2));
}
CLOZE_DEVICE float row_sum(float x) {
  x += shuffle_xor(x, 1);
  return x + shuffle_xor(x, 2);
}

// The row of the tile that this lane has in a half of its sums.
CLOZE_DEVICE int tile_row(int half) { return kWarpRows * warp() + lane() / 4 + 8 * half; }

// Writes the block's rows of a result [T, H], each times a factor of its half.
template <int kSize>
CLOZE_DEVICE void store_rows(const Sequences& in, const TilePlace& place, const Global<bf16>& to,
                             const WarpSums<kSize / 8>& sums, const float (&factors)[2]) {
  CLOZE_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = place.first + tile_row(half);
    if (row >= place.length) continue;
    const int64_t at = ((place.start + row) * in.heads + block_y()) * kSize;
    CLOZE_UNROLL
    for (int j = 0; j < kSize / 8; ++j) {
      const Neighbours<bf16, 2> pair{{to_bf16(sums.x[j][2 * half] * factors[half]),
                                      to_bf16(sums.x[j][2 * half + 1] * factors[half])}};
      to.store(at + WarpSums<kSize / 8>::column(j, 0), pair);
    }
  }
}

// The blocks of a launch: tile_place().
inline Grid tiles_of(const Sequences& sequences) {
  return {sequences.slots / kTileRows + sequences.count + 1, sequences.heads};
}

inline std::optional<std::string> refuse_heads_without_tiles(const KernelRequest& request,
                                                             size_t q) {
  const int64_t heads = request.attributes_as<ops::AttentionAttributes>().num_heads;
  const int64_t size = request.inputs[q].shape[1] / heads;
  if (request.inputs[q].dtype == DType::kBF16 && (size == 32 || size == 64)) return std::nullopt;
  return "serves bf16, heads of 32 or 64 columns";
}

// Calls visit with the size as a constant.
template <typename Visit>
void with_head_size(const Sequences& sequences, const Visit& visit) {
  if (sequences.size == 32) return visit(std::integral_constant<int, 32>());
  visit(std::integral_constant<int, 64>());
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
