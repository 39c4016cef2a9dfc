// attention: softmax attention within each sequence of a ragged batch, all heads.
//
// For sequence b, slots i and j in [sequence_starts[b], sequence_starts[b+1]), head n of size D:
//   s[i, j] = q[i] . k[j] / sqrt(D)
//   p = softmax_j(s)
//   context[i] = sum_j dropout(p)[i, j] v[j]
//
// Inputs:  q, k, v [T, H] f32 | bf16 | f16 (head n is columns n D .. n D + D - 1);
//          sequence_starts [B+1] i32, ascending (empty sequences allowed);
//          sample_ids [T] i32;  random_key [2] i32
// Outputs: context [T, H] as q;  log_sum_exp [T, N] f32 of the scaled scores, kept for backward
// Slots after the last sequence get zeros in both. Scores, softmax and sums in f32; with bf16 a
// kernel may round the probabilities before they are multiplied by v.
// Dropout of the probabilities: ops/dropout_mask.h with row attention_dropout_row(head, i - start),
// element j - start, row length = the sequence's length, sample = sample_ids[start].
//
// attention_gradient
// Inputs:  dcontext, q, k, v, context [T, H];  log_sum_exp [T, N];  sequence_starts;  sample_ids;
//          random_key
// Outputs: dq, dk, dv [T, H] as q (zero after the last sequence)
//   pd = dropout(p);  dv = pd^T dcontext;  dpd = dcontext v^T;  delta[i] = dcontext[i] . context[i]
//   ds = p * (mask * scale * dpd - delta);  dq = ds k / sqrt(D);  dk = ds^T q / sqrt(D)
// p is recomputed from q, k and log_sum_exp; with bf16 a kernel may round pd and ds before they are
// multiplied. Source: Dao et al., arXiv 2205.14135.
#pragma once

#include <limits>
#include <span>

#include "graph/graph.h"
#include "ops/dropout.h"

namespace cloze::ops {

struct AttentionAttributes {
  int64_t num_heads = 1;
  double rate = 0.0;
  int32_t site = 0;
  // Slots of the longest sequence there can be: kernels have work buffers for one of so many, or of
  // T when that is less, and throw InternalError when a longer one comes.
  int64_t max_length = std::numeric_limits<int64_t>::max();
};

// The slots that the work buffers hold: the smaller of T and max_length.
int64_t longest_length(int64_t T, const AttentionAttributes& attributes);
// InternalError when one of the sequences is longer than that.
void check_lengths(std::span<const int32_t> sequence_starts, int64_t longest);

struct Attention {
  enum Input { kQ, kK, kV, kSequenceStarts, kSampleIds, kRandomKey };
  enum Output { kContext, kLogSumExp };
};
struct AttentionGradient {
  enum Input {
    kDcontext,
    kQ,
    kK,
    kV,
    kContext,
    kLogSumExp,
    kSequenceStarts,
    kSampleIds,
    kRandomKey
  };
  enum Output { kDq, kDk, kDv };
};

extern const graph::OpDefinition kAttention;
extern const graph::OpDefinition kAttentionGradient;

struct AttentionInputs {
  graph::Value q, k, v;          // [T, H]
  graph::Value sequence_starts;  // [B+1] i32
};
// Its random site is the graph's next one, whatever `attributes` says.
graph::Value attention(graph::Graph& graph, const AttentionInputs& in, const RandomInputs& random,
                       AttentionAttributes attributes);

}  // namespace cloze::ops
