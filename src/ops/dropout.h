// dropout: zeroes a share `rate` of the elements and scales the rest so that the mean stays.
// Which ones: ops/dropout_mask.h, with row = position_ids[t], sample = sample_ids[t].
//
// Inputs:  x [T, H] f32 | bf16 | f16;  sample_ids, position_ids [T] i32;
//          random_key [2] i32 {seed, step}
// Outputs: y [T, H] as x
// Its gradient is the same operator applied to dy: the mask is computed again, never stored.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct DropoutAttributes {
  double rate = 0.0;
  int32_t site = 0;
};

// The inputs that every dropout of a model reads besides its data.
struct RandomInputs {
  graph::Value sample_ids;    // [T] i32
  graph::Value position_ids;  // [T] i32
  graph::Value random_key;    // [2] i32
};

struct Dropout {
  enum Input { kX, kSampleIds, kPositionIds, kRandomKey };
  enum Output { kY };
};

extern const graph::OpDefinition kDropout;

// Returns x itself when the rate is 0.
graph::Value dropout(graph::Graph& graph, graph::Value x, const RandomInputs& random, double rate);

}  // namespace cloze::ops
