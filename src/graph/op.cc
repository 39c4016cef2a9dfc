#include "graph/op.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace cloze::graph {

std::vector<TensorType> infer_types(const OpDefinition& op, std::span<const TensorType> inputs,
                                    const std::any& attributes) {
  const size_t least = op.inputs.size() - static_cast<size_t>(op.optional_inputs);
  const bool is_few = inputs.size() <= op.inputs.size() || op.repeats_last_input;
  CLOZE_CHECK(inputs.size() >= least && is_few, "{}: {} inputs, expected {}{}: {}", op.name,
              inputs.size(), least, op.inputs.size() == least ? "" : " or more",
              fmt::join(op.inputs, ", "));
  return op.infer(inputs, attributes);
}

}  // namespace cloze::graph
