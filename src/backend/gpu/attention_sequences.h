// The ragged sequences of attention, as its kernels take them. Formulas: ops/attention.h.
#pragma once

#include <cmath>

#include "backend/gpu/dropout.h"
#include "ops/attention.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// The sequences of a batch, their heads, and the dropout of the probabilities.
struct Sequences {
  Global<const int32_t> starts;  // [count + 1]
  RowDropout dropout;            // position_ids are not read
  int64_t count, slots, heads, size;
  float scale;  // 1 / sqrt(D)
};

// The row of dropout's masks of a query (ops/dropout_mask.h).
CLOZE_DEVICE uint32_t dropout_row(int64_t head, int64_t query) {
  return static_cast<uint32_t>(head * ops::kMostHeadsOrQueries + query);
}

// The factor of the probability of a query and a key of a sequence: 0, or the scale of kept ones.
CLOZE_DEVICE float dropout_factor(const Sequences& in, int64_t start, int64_t length, int64_t query,
                                  int64_t key) {
  if (in.dropout.threshold == 0) return 1.0f;
  const auto counters = static_cast<uint32_t>((length + kHalves - 1) / kHalves);
  const auto element = static_cast<uint32_t>(key);  // 32 bits: a card divides 64 in a subroutine
  return DropoutRow(in.dropout, start, dropout_row(block_y(), query))
      .factor(element % counters, static_cast<int>(element / counters));
}

// sequence_starts, sample_ids and random_key are consecutive inputs from `first` on; `q` is the
// input q.
inline Sequences sequences_of(const Call& call, size_t q, size_t first) {
  const auto& attributes = call.attributes<ops::AttentionAttributes>();
  const int64_t size = call.input_shape(q)[1] / attributes.num_heads;
  RowDropout dropout;
  if (attributes.rate > 0.0) {
    dropout = {.sample_ids = call.input<int32_t>(first + 1),
               .random_key = call.input<int32_t>(first + 2),
               .site = static_cast<uint32_t>(attributes.site),
               .threshold = ops::dropout_threshold(attributes.rate),
               .scale = static_cast<float>(ops::dropout_scale(attributes.rate))};
  }
  return {call.input<int32_t>(first),
          dropout,
          call.input_shape(first)[0] - 1,
          call.input_shape(q)[0],
          attributes.num_heads,
          size,
          static_cast<float>(1.0 / std::sqrt(static_cast<double>(size)))};
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
