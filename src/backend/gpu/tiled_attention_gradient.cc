// attention_gradient as products of matrices (tiled_attention.h): one launch for dq, one for dk and
// dv. Each computes the probabilities again. They and their gradients are rounded to bf16 before
// they are multiplied; sums are f32.
#include "backend/gpu/kernels.h"
#include "backend/gpu/math.h"
#include "backend/gpu/tiled_attention.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

// The inputs of both gradients.
struct TiledBackward {
  Sequences sequences;
  Global<const bf16> dcontext, q, k, v;
  Global<const float> log_sum_exp;
};

// delta [T, N] and dq: a block has 64 queries.
template <int kSize>
struct QueryGradientTile {
  static constexpr int kThreads = kTileThreads;
  struct Arguments {
    TiledBackward backward;
    Global<const bf16> context;
    Global<float> delta;
    Global<bf16> dq;
  };
  struct Shared {
    HeadTile<kSize> q, dcontext, k, v;
    KeptBits kept;
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Sequences& all = in.backward.sequences;
    const TilePlace place = tile_place(all);
    if (place.first >= place.length) return;
    WarpSums<kSize / 8> dq;
    if (place.is_used) add(in, place, dq);
    const float factors[2] = {all.scale, all.scale};
    store_rows<kSize>(all, place, in.dq, dq, factors);
  }

  // delta of this lane's two rows; writes those of the warp's.
  CLOZE_DEVICE static void make_delta(const Arguments& in, const TilePlace& place,
                                      float (&delta)[2]) {
    const Sequences& all = in.backward.sequences;
    for (int i = 0; i < kWarpRows; ++i) {
      const int row = place.first + kWarpRows * warp() + i;
      if (row >= place.length) break;
      const int64_t at = (place.start + row) * all.heads + block_y();
      float sum = 0.0f;
      for (int64_t d = at * kSize + lane(); d < (at + 1) * kSize; d += kWarp) {
        sum = fused(to_float(in.backward.dcontext.load(d)), to_float(in.context.load(d)), sum);
      }
      sum = warp_sum(sum);
      if (lane() == 0) in.delta.store(at, sum);
      if (i == lane() / 4) delta[0] = sum;
      if (i == lane() / 4 + 8) delta[1] = sum;
    }
  }

  CLOZE_DEVICE static void add(const Arguments& in, const TilePlace& place,
                               WarpSums<kSize / 8>& dq) {
    const Sequences& all = in.backward.sequences;
    Shared& memory = shared<Shared>();
    begin_copy(memory.q, in.backward.q, all, place, place.first);
    begin_copy(memory.dcontext, in.backward.dcontext, all, place, place.first);
    memory.kept.draw(all, place, place.first);
    const KeptFactor factor(all, memory.kept, place);
    float delta[2] = {}, log_sum_exp[2] = {};
    make_delta(in, place, delta);
    CLOZE_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = place.first + tile_row(half);
      if (row >= place.length) continue;
      log_sum_exp[half] = in.backward.log_sum_exp.load((place.start + row) * all.heads + block_y());
    }
    for (int first = 0; first < place.length; first += kTileRows) {
      begin_copy(memory.k, in.backward.k, all, place, first);
      begin_copy(memory.v, in.backward.v, all, place, first);
      commit_copies();
      wait_for_copies<0>();
      sync_block();
      TileSums ds, dpd;
      memory.k.add_products(memory.q, ds);
      memory.v.add_products(memory.dcontext, dpd);
      ds.visit_with(dpd, [&](int half, int column, float& x, float of_dropped) {
        const int row = tile_row(half), query = place.first + row, key = first + column;
        if (query >= place.length || key >= place.length) {
          x = 0.0f;
          return;
        }
        const float p = exponential(fused(x, all.scale, -log_sum_exp[half]));
        x = p * fused(factor.of(row, query, key), of_dropped, -delta[half]);
      });
      memory.k.add_weighted(WarpFactors(ds), dq);
      sync_block();
    }
  }
};

// dk and dv: a block has 64 keys.
template <int kSize>
struct KeyGradientTile {
  static constexpr int kThreads = kTileThreads;
  struct Arguments {
    TiledBackward backward;
    Global<const float> delta;
    Global<bf16> dk, dv;
  };
  struct Shared {
    HeadTile<kSize> k, v, q, dcontext;
    KeptBits kept;
    Cell<float> log_sum_exp[kTileRows], delta[kTileRows];  // of the queries
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Sequences& all = in.backward.sequences;
    const TilePlace place = tile_place(all);
    if (place.first >= place.length) return;
    WarpSums<kSize / 8> dk, dv;
    if (place.is_used) add(in, place, dk, dv);
    const float key_factors[2] = {all.scale, all.scale}, value_factors[2] = {1.0f, 1.0f};
    store_rows<kSize>(all, place, in.dk, dk, key_factors);
    store_rows<kSize>(all, place, in.dv, dv, value_factors);
  }

  // The queries from `first` on.
  CLOZE_DEVICE static void fetch_queries(const Arguments& in, const TilePlace& place, int first) {
    const Sequences& all = in.backward.sequences;
    Shared& memory = shared<Shared>();
    begin_copy(memory.q, in.backward.q, all, place, first);
    begin_copy(memory.dcontext, in.backward.dcontext, all, place, first);
    commit_copies();
    memory.kept.draw(all, place, first);
    for (int i = thread(); i < kTileRows && first + i < place.length; i += kTileThreads) {
      const int64_t at = (place.start + first + i) * all.heads + block_y();
      memory.log_sum_exp[i].put(in.backward.log_sum_exp.load(at));
      memory.delta[i].put(in.delta.load(at));
    }
    wait_for_copies<0>();
    sync_block();
  }

  CLOZE_DEVICE static void add(const Arguments& in, const TilePlace& place, WarpSums<kSize / 8>& dk,
                               WarpSums<kSize / 8>& dv) {
    const Sequences& all = in.backward.sequences;
    Shared& memory = shared<Shared>();
    begin_copy(memory.k, in.backward.k, all, place, place.first);
    begin_copy(memory.v, in.backward.v, all, place, place.first);
    const KeptFactor factor(all, memory.kept, place);
    for (int first = 0; first < place.length; first += kTileRows) {
      fetch_queries(in, place, first);
      TileSums pd, ds;
      memory.q.add_products(memory.k, pd);
      memory.dcontext.add_products(memory.v, ds);
      pd.visit_with(ds, [&](int half, int row, float& x, float& d) {  // a column is a query
        const int query = first + row, key = place.first + tile_row(half);
        float p = 0.0f, kept = 0.0f, delta = 0.0f;
        if (query < place.length && key < place.length) {
          p = exponential(fused(x, all.scale, -memory.log_sum_exp[row].get()));
          kept = factor.of(row, query, key);
          delta = memory.delta[row].get();
        }
        x = p * kept;
        d = p * fused(kept, d, -delta);
      });
      memory.dcontext.add_weighted(WarpFactors(pd), dv);
      memory.q.add_weighted(WarpFactors(ds), dk);
      sync_block();
    }
  }
};

struct TiledAttentionGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kAttentionGradient;
  static constexpr std::string_view kVariant = "tiles";
  using Op = ops::AttentionGradient;
  static std::optional<std::string> refuse(const KernelRequest& request) {
    return refuse_heads_without_tiles(request, Op::kQ);
  }
  static size_t workspace_bytes(const KernelRequest& request) {  // delta [T, N]
    return static_cast<size_t>(request.inputs[Op::kLogSumExp].shape.elements()) * sizeof(float);
  }
  template <typename T>
  static void run(const Call& call) {
    if constexpr (std::is_same_v<T, bf16>) {
      const Sequences sequences = sequences_of(call, Op::kQ, Op::kSequenceStarts);
      const int64_t rows = sequences.slots * sequences.heads;
      const TiledBackward backward{sequences,
                                   call.input<T>(Op::kDcontext),
                                   call.input<T>(Op::kQ),
                                   call.input<T>(Op::kK),
                                   call.input<T>(Op::kV),
                                   call.input<float>(Op::kLogSumExp)};
      with_head_size(sequences, [&](auto size) {
        call.launch<QueryGradientTile<size()>>(
            tiles_of(sequences), {backward, call.input<T>(Op::kContext),
                                  call.workspace<float>(0, rows), call.output<T>(Op::kDq)});
        call.launch<KeyGradientTile<size()>>(tiles_of(sequences),
                                             {backward, call.workspace<const float>(0, rows),
                                              call.output<T>(Op::kDk), call.output<T>(Op::kDv)});
      });
    }
  }
};

}  // namespace

KernelTable tiled_attention_gradient_kernels() { return table_of<TiledAttentionGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
