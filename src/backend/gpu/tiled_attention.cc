// attention as products of matrices (tiled_attention.h). Probabilities are rounded to bf16 before
// they are multiplied by v; scores, softmax and sums are f32.
#include "backend/gpu/tiled_attention.h"

#include "backend/gpu/kernels.h"
#include "backend/gpu/math.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr float kLowest = -3.0e38f;  // below any score; less of it is finite, too

template <int kSize>
struct AttendTile {
  static constexpr int kThreads = kTileThreads;
  struct Arguments {
    Sequences sequences;
    Global<const bf16> q, k, v;
    Global<bf16> context;
    Global<float> log_sum_exp;
  };
  struct Shared {
    HeadTile<kSize> q, k, v;
    KeptBits kept;
  };

  // The softmax of the block's rows, as far as it has come.
  struct Softmax {
    float largest[2] = {kLowest, kLowest};
    float sum[2] = {};  // of this lane's columns
    WarpSums<kSize / 8> context;

    // Takes scores that are below length, and makes of them probabilities times a common factor of
    // their row, so far.
    CLOZE_DEVICE void take(TileSums& scores, int keys, float scale) {
      float now[2] = {largest[0], largest[1]};
      scores.visit([&](int half, int column, float& score) {
        score = column < keys ? score * scale : kLowest;
        now[half] = larger(now[half], score);
      });
      CLOZE_UNROLL
      for (int half = 0; half < 2; ++half) {
        now[half] = row_largest(now[half]);
        const float shrink = exponential(largest[half] - now[half]);
        largest[half] = now[half];
        sum[half] *= shrink;
        CLOZE_UNROLL
        for (int j = 0; j < kSize / 8; ++j) {
          context.x[j][2 * half] *= shrink;
          context.x[j][2 * half + 1] *= shrink;
        }
      }
      scores.visit([&](int half, int column, float& score) {
        score = column < keys ? exponential(score - largest[half]) : 0.0f;
        sum[half] += score;
      });
    }
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Sequences& all = in.sequences;
    const TilePlace place = tile_place(all);
    if (place.first >= place.length) return;
    Softmax softmax;
    if (place.is_used) attend(in, place, softmax);
    float factors[2] = {};
    CLOZE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float sum = row_sum(softmax.sum[half]);
      factors[half] = place.is_used ? 1.0f / sum : 0.0f;
      const int row = place.first + tile_row(half);
      if (lane() % 4 != 0 || row >= place.length) continue;
      in.log_sum_exp.store((place.start + row) * all.heads + block_y(),
                           place.is_used ? softmax.largest[half] + logarithm(sum) : 0.0f);
    }
    store_rows<kSize>(all, place, in.context, softmax.context, factors);
  }

  CLOZE_DEVICE static void attend(const Arguments& in, const TilePlace& place, Softmax& softmax) {
    const Sequences& all = in.sequences;
    Shared& memory = shared<Shared>();
    begin_copy(memory.q, in.q, all, place, place.first);
    memory.kept.draw(all, place, place.first);
    const KeptFactor factor(all, memory.kept, place);
    for (int first = 0; first < place.length; first += kTileRows) {
      begin_copy(memory.k, in.k, all, place, first);
      begin_copy(memory.v, in.v, all, place, first);
      commit_copies();
      wait_for_copies<0>();
      sync_block();
      TileSums scores;
      memory.k.add_products(memory.q, scores);
      const int keys = place.length - first;
      softmax.take(scores, keys, all.scale);
      scores.visit([&](int half, int column, float& weight) {
        const int row = tile_row(half);
        if (column < keys) weight *= factor.of(row, place.first + row, first + column);
      });
      memory.v.add_weighted(WarpFactors(scores), softmax.context);
      sync_block();
    }
  }
};

struct TiledAttention {
  static constexpr const graph::OpDefinition& kOp = ops::kAttention;
  static constexpr std::string_view kVariant = "tiles";
  using Op = ops::Attention;
  static std::optional<std::string> refuse(const KernelRequest& request) {
    return refuse_heads_without_tiles(request, Op::kQ);
  }
  template <typename T>
  static void run(const Call& call) {
    if constexpr (std::is_same_v<T, bf16>) {
      const Sequences sequences = sequences_of(call, Op::kQ, Op::kSequenceStarts);
      with_head_size(sequences, [&](auto size) {
        call.launch<AttendTile<size()>>(
            tiles_of(sequences),
            {sequences, call.input<T>(Op::kQ), call.input<T>(Op::kK), call.input<T>(Op::kV),
             call.output<T>(Op::kContext), call.output<float>(Op::kLogSumExp)});
      });
    }
  }
};

}  // namespace

KernelTable tiled_attention_kernels() { return table_of<TiledAttention>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
