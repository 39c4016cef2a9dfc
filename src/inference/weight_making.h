// The weights of a compiled model, made of the parameters it was trained with: packed, or as they
// are. One after the other, so that beside the weights nothing is held but what one of them is made
// of.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "graph/graph.h"
#include "plan/program.h"

namespace cloze::inference {

// The values of a parameter, aligned to a cache line, until the next call.
using ParameterValues = std::function<std::span<const float>(const graph::ValueInfo& parameter)>;

// `model` is what inference_graph() gives, `program` was made of its frozen form
// (passes/freeze.h), and `weights` is that one's parameter arena.
void make_weights(const graph::Graph& model, const plan::Program& program,
                  const ParameterValues& values_of, std::span<std::byte> weights);

}  // namespace cloze::inference
