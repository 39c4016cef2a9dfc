// attention and its gradient for heads of up to 256 columns, on any card: a warp has one query, or
// one key, of one head, and goes over the sequence in tiles of 32, a lane for each.
#include "backend/gpu/attention_sequences.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/math.h"
#include "backend/gpu/sequences.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kAttentionThreads = 128;
constexpr int kAttentionWarps = kAttentionThreads / kWarp;
constexpr int kMostHeadSize = 256;
constexpr int kLaneColumns = kMostHeadSize / kWarp;

// A row of a head, within its sequence.
struct HeadRow {
  int64_t start, length;  // of the sequence; length 0: the slot is after the last one
  int64_t slot, head;

  CLOZE_DEVICE int64_t index() const { return slot - start; }
};

// The row that the warp has; block_y() is its head.
template <typename Kernel>
CLOZE_DEVICE HeadRow head_row(const Sequences& in) {
  const int64_t slot = global_warp<Kernel>();
  const SequenceSlots sequence = sequence_of(in.starts, in.count, slot);
  return {sequence.begin, sequence.end - sequence.begin, slot, block_y()};
}

// The rows of one head of a tensor [T, H].
template <typename T>
struct HeadRows {
  Global<const T> tensor;
  int64_t hidden, column;

  CLOZE_DEVICE float at(int64_t slot, int64_t d) const {
    return to_float(tensor.load(slot * hidden + column + d));
  }
};
template <typename T>
CLOZE_DEVICE HeadRows<T> rows_of(const Sequences& in, const Global<const T>& tensor) {
  return {tensor, in.heads * in.size, block_y() * in.size};
}

// A row that all lanes of a warp read, as f32.
struct SharedRow {
  Cell<float> x[kMostHeadSize];

  template <typename T>
  CLOZE_DEVICE void fill(const HeadRows<T>& rows, int64_t slot, int64_t size) {
    for (int64_t d = lane(); d < size; d += kWarp) x[d].put(rows.at(slot, d));
  }
  template <typename T>
  CLOZE_DEVICE float dot(const HeadRows<T>& rows, int64_t slot, int64_t size) const {
    float sum = 0.0f;
    for (int64_t d = 0; d < size; ++d) sum = fused(x[d].get(), rows.at(slot, d), sum);
    return sum;
  }
};

// Sums of rows with weights: lane l has columns l, l + 32 ...
struct LaneSums {
  float x[kLaneColumns] = {};

  CLOZE_DEVICE void scale(float factor) {
    CLOZE_UNROLL
    for (float& sum : x) sum *= factor;
  }
  // += sum_i weights[i] rows[first + i]
  template <typename T>
  CLOZE_DEVICE void add(const Cell<float>* weights, const HeadRows<T>& rows, int64_t first,
                        int64_t count, int64_t size) {
    for (int64_t i = 0; i < count; ++i) {
      const float weight = weights[i].get();
      CLOZE_UNROLL
      for (int c = 0; c < kLaneColumns; ++c) {
        if (c * kWarp >= size) break;
        const int64_t d = c * kWarp + lane();
        if (d < size) x[c] = fused(weight, rows.at(first + i, d), x[c]);
      }
    }
  }
  template <typename T>
  CLOZE_DEVICE void store(const Global<T>& tensor, const Sequences& in, int64_t slot,
                          float factor) const {
    CLOZE_UNROLL
    for (int c = 0; c < kLaneColumns; ++c) {
      const int64_t d = c * kWarp + lane();
      const int64_t at = (slot * in.heads + block_y()) * in.size + d;
      if (d < in.size) tensor.store(at, from_float<T>(x[c] * factor));
    }
  }
};

CLOZE_DEVICE int64_t tile_rows(int64_t length, int64_t first) {
  return length - first < kWarp ? length - first : kWarp;
}

template <typename T>
struct AttendRow {
  static constexpr int kThreads = kAttentionThreads;
  struct Arguments {
    Sequences sequences;
    Global<const T> q, k, v;
    Global<T> context;
    Global<float> log_sum_exp;
  };
  struct Shared {
    SharedRow q[kAttentionWarps];
    Cell<float> weights[kAttentionWarps][kWarp];
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Sequences& all = in.sequences;
    const HeadRow row = head_row<AttendRow>(all);
    if (row.slot >= all.slots) return;
    SharedRow& q = shared<Shared>().q[warp()];
    Cell<float>* const weights = shared<Shared>().weights[warp()];
    q.fill(rows_of(all, in.q), row.slot, all.size);
    sync_warp();
    const HeadRows<T> k = rows_of(all, in.k), v = rows_of(all, in.v);
    LaneSums sums;
    float largest = as_float(0xff800000u), lane_sum = 0.0f;  // -infinity
    for (int64_t first = 0; first < row.length; first += kWarp) {
      const int64_t key = first + lane();
      const bool is_key = key < row.length;
      const float score =
          is_key ? q.dot(k, row.start + key, all.size) * all.scale : as_float(0xff800000u);
      const float largest_now = larger(largest, warp_largest(score));
      const float shrink = exponential(largest - largest_now);
      const float weight = is_key ? exponential(score - largest_now) : 0.0f;
      lane_sum = fused(lane_sum, shrink, weight);
      largest = largest_now;
      weights[lane()].put(
          is_key ? weight * dropout_factor(all, row.start, row.length, row.index(), key) : 0.0f);
      sync_warp();
      sums.scale(shrink);
      sums.add(weights, v, row.start + first, tile_rows(row.length, first), all.size);
      sync_warp();
    }
    const float sum = warp_sum(lane_sum);
    const bool is_used = row.length > 0;
    sums.store(in.context, all, row.slot, is_used ? 1.0f / sum : 0.0f);
    if (lane() != 0) return;
    in.log_sum_exp.store(row.slot * all.heads + row.head,
                         is_used ? largest + logarithm(sum) : 0.0f);
  }
};

// The inputs of both gradients.
template <typename T>
struct Backward {
  Sequences sequences;
  Global<const T> dcontext, q, k, v;
  Global<const float> log_sum_exp;
};

// delta [T, N] and dq: a warp has a query.
template <typename T>
struct QueryGradient {
  static constexpr int kThreads = kAttentionThreads;
  struct Arguments {
    Backward<T> backward;
    Global<const T> context;
    Global<float> delta;
    Global<T> dq;
  };
  struct Shared {
    SharedRow q[kAttentionWarps], dcontext[kAttentionWarps];
    Cell<float> ds[kAttentionWarps][kWarp];
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Sequences& all = in.backward.sequences;
    const HeadRow row = head_row<QueryGradient>(all);
    if (row.slot >= all.slots) return;
    Shared& memory = shared<Shared>();
    SharedRow& q = memory.q[warp()];
    SharedRow& dcontext = memory.dcontext[warp()];
    Cell<float>* const ds = memory.ds[warp()];
    q.fill(rows_of(all, in.backward.q), row.slot, all.size);
    dcontext.fill(rows_of(all, in.backward.dcontext), row.slot, all.size);
    sync_warp();
    const float delta = dcontext.dot(rows_of(all, in.context), row.slot, all.size);
    const float log_sum_exp = in.backward.log_sum_exp.load(row.slot * all.heads + row.head);
    if (lane() == 0) in.delta.store(row.slot * all.heads + row.head, delta);
    const HeadRows<T> k = rows_of(all, in.backward.k), v = rows_of(all, in.backward.v);
    LaneSums sums;
    for (int64_t first = 0; first < row.length; first += kWarp) {
      const int64_t key = first + lane();
      float ds_here = 0.0f;
      if (key < row.length) {
        const float score = q.dot(k, row.start + key, all.size) * all.scale;
        const float dpd = dcontext.dot(v, row.start + key, all.size);
        const float factor = dropout_factor(all, row.start, row.length, row.index(), key);
        ds_here = exponential(score - log_sum_exp) * fused(factor, dpd, -delta);
      }
      ds[lane()].put(ds_here);
      sync_warp();
      sums.add(ds, k, row.start + first, tile_rows(row.length, first), all.size);
      sync_warp();
    }
    sums.store(in.dq, all, row.slot, all.scale);
  }
};

// dk and dv: a warp has a key.
template <typename T>
struct KeyGradient {
  static constexpr int kThreads = kAttentionThreads;
  struct Arguments {
    Backward<T> backward;
    Global<const float> delta;
    Global<T> dk, dv;
  };
  struct Shared {
    SharedRow k[kAttentionWarps], v[kAttentionWarps];
    Cell<float> ds[kAttentionWarps][kWarp], pd[kAttentionWarps][kWarp];
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Sequences& all = in.backward.sequences;
    const HeadRow row = head_row<KeyGradient>(all);
    if (row.slot >= all.slots) return;
    Shared& memory = shared<Shared>();
    SharedRow& k = memory.k[warp()];
    SharedRow& v = memory.v[warp()];
    Cell<float>* const ds = memory.ds[warp()];
    Cell<float>* const pd = memory.pd[warp()];
    k.fill(rows_of(all, in.backward.k), row.slot, all.size);
    v.fill(rows_of(all, in.backward.v), row.slot, all.size);
    sync_warp();
    const HeadRows<T> q = rows_of(all, in.backward.q);
    const HeadRows<T> dcontext = rows_of(all, in.backward.dcontext);
    LaneSums dk, dv;
    for (int64_t first = 0; first < row.length; first += kWarp) {
      const int64_t query = first + lane();
      float ds_here = 0.0f, pd_here = 0.0f;
      if (query < row.length) {
        const int64_t slot = row.start + query, at = slot * all.heads + row.head;
        const float score = k.dot(q, slot, all.size) * all.scale;
        const float p = exponential(score - in.backward.log_sum_exp.load(at));
        const float factor = dropout_factor(all, row.start, row.length, query, row.index());
        ds_here = p * fused(factor, v.dot(dcontext, slot, all.size), -in.delta.load(at));
        pd_here = p * factor;
      }
      ds[lane()].put(ds_here);
      pd[lane()].put(pd_here);
      sync_warp();
      const int64_t rows = tile_rows(row.length, first);
      dk.add(ds, q, row.start + first, rows, all.size);
      dv.add(pd, dcontext, row.start + first, rows, all.size);
      sync_warp();
    }
    dk.store(in.dk, all, row.slot, all.scale);
    dv.store(in.dv, all, row.slot, 1.0f);
  }
};

Grid grid_of(const Sequences& sequences) {
  return {divide_up(sequences.slots, int64_t{kAttentionWarps}), sequences.heads};
}

std::optional<std::string> refuse_wide_heads(const KernelRequest& request, size_t q) {
  const int64_t heads = request.attributes_as<ops::AttentionAttributes>().num_heads;
  if (request.inputs[q].shape[1] / heads <= kMostHeadSize) return std::nullopt;
  return "serves heads of up to " + std::to_string(kMostHeadSize) + " columns";
}

struct Attention {
  static constexpr const graph::OpDefinition& kOp = ops::kAttention;
  using Op = ops::Attention;
  static std::optional<std::string> refuse(const KernelRequest& request) {
    return refuse_wide_heads(request, Op::kQ);
  }
  template <typename T>
  static void run(const Call& call) {
    const Sequences sequences = sequences_of(call, Op::kQ, Op::kSequenceStarts);
    call.launch<AttendRow<T>>(
        grid_of(sequences),
        {sequences, call.input<T>(Op::kQ), call.input<T>(Op::kK), call.input<T>(Op::kV),
         call.output<T>(Op::kContext), call.output<float>(Op::kLogSumExp)});
  }
};

struct AttentionGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kAttentionGradient;
  using Op = ops::AttentionGradient;
  static std::optional<std::string> refuse(const KernelRequest& request) {
    return refuse_wide_heads(request, Op::kQ);
  }
  static size_t workspace_bytes(const KernelRequest& request) {  // delta [T, N]
    return static_cast<size_t>(request.inputs[Op::kLogSumExp].shape.elements()) * sizeof(float);
  }
  template <typename T>
  static void run(const Call& call) {
    const Sequences sequences = sequences_of(call, Op::kQ, Op::kSequenceStarts);
    const int64_t rows = sequences.slots * sequences.heads;
    const Backward<T> backward{sequences,
                               call.input<T>(Op::kDcontext),
                               call.input<T>(Op::kQ),
                               call.input<T>(Op::kK),
                               call.input<T>(Op::kV),
                               call.input<float>(Op::kLogSumExp)};
    call.launch<QueryGradient<T>>(
        grid_of(sequences), {backward, call.input<T>(Op::kContext), call.workspace<float>(0, rows),
                             call.output<T>(Op::kDq)});
    call.launch<KeyGradient<T>>(grid_of(sequences),
                                {backward, call.workspace<const float>(0, rows),
                                 call.output<T>(Op::kDk), call.output<T>(Op::kDv)});
  }
};

}  // namespace

KernelTable attention_kernels() { return table_of<Attention, AttentionGradient>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
