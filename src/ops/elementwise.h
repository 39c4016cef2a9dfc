// The plain elementwise operators that passes insert.
//
// add:         a + b, same type                              (gradients that meet)
// accumulate:  copies x; its output goes into a variable     (variable += x)
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

extern const graph::OpDefinition kAdd;
extern const graph::OpDefinition kAccumulate;

}  // namespace cloze::ops
