// gather_rows: picks rows. y[p] = x[index[p]].
// Inputs:  x [T, H] f32 | bf16 | f16;  index [P] i32, each in [0, T).   Outputs: y [P, H] as x.
//
// scatter_rows, its gradient: dx[index[p]] += dy[p], zero elsewhere; a row may be named many times
// (unused entries all name row 0, with zero gradient).
// Inputs:  dy [P, H];  index [P].   Outputs: dx [T, H] as dy.
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct ScatterRowsAttributes {
  int64_t rows = 0;  // T
};

struct GatherRows {
  enum Input { kX, kIndex };
  enum Output { kY };
};
struct ScatterRows {
  enum Input { kDy, kIndex };
  enum Output { kDx };
};

extern const graph::OpDefinition kGatherRows;
extern const graph::OpDefinition kScatterRows;

graph::Value gather_rows(graph::Graph& graph, graph::Value x, graph::Value index);

}  // namespace cloze::ops
