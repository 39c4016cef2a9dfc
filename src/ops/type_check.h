// Checks that shape rules share. They guard our own graph building, so they throw InternalError;
// users' sizes are checked earlier (models/bert_config.cc).
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "graph/tensor_type.h"

namespace cloze::ops {

using graph::kScalar;
using graph::TensorType;

inline void expect_type(std::string_view op, std::string_view what, const TensorType& actual,
                        const TensorType& expected) {
  CLOZE_CHECK(actual == expected, "{}: {} is {}, expected {}", op, what, actual.to_string(),
              expected.to_string());
}

inline void expect_inputs(std::string_view op, std::span<const TensorType> inputs, size_t least,
                          size_t most) {
  CLOZE_CHECK(inputs.size() >= least && inputs.size() <= most, "{}: {} inputs, expected {} to {}",
              op, inputs.size(), least, most);
}

}  // namespace cloze::ops
