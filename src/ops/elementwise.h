// The plain elementwise operators that passes insert.
//
// add:         a + b, same type                              (gradients that meet)
// cast:        x in the dtype of the attributes              (compute copies of parameters)
// accumulate:  copies x; its output goes into a variable     (variable += x)
#pragma once

#include "graph/graph.h"

namespace cloze::ops {

struct CastAttributes {
  DType output_dtype = DType::kF32;
};

extern const graph::OpDefinition kAdd;
extern const graph::OpDefinition kCast;
extern const graph::OpDefinition kAccumulate;

}  // namespace cloze::ops
