// The plain elementwise operators that passes insert.
//
// add:         a + b, same type                              (gradients that meet)
// accumulate:  copies x; its output goes into a variable     (variable += x)
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct Add {
  enum Input { kA, kB };
  enum Output { kSum };
};
struct Accumulate {
  enum Input { kX };
  enum Output { kY };
};

extern const graph::OpDefinition kAdd;
extern const graph::OpDefinition kAccumulate;

}  // namespace cloze::ops
