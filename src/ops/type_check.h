// Checks that shape rules share. They guard our own graph building, so they throw InternalError;
// users' sizes are checked earlier (models/bert_config.cc).
#pragma once

#include <span>

#include "base/error.h"
#include "graph/op.h"

namespace cloze::ops {

using graph::kScalar;
using graph::TensorType;

// Of an input, by its number among those of the operator.
inline void expect_type(const graph::OpDefinition& op, std::span<const TensorType> in, size_t input,
                        const TensorType& expected) {
  CLOZE_CHECK(in[input] == expected, "{}: {} is {}, expected {}", op.name, op.input_name(input),
              in[input].to_string(), expected.to_string());
}

}  // namespace cloze::ops
