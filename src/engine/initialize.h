// Starting values of parameters, as a function of (seed, parameter name, element): the same
// whatever else is in the model, and for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace cloze::engine {

void initialize(std::span<float> values, const graph::Init& init, std::string_view name,
                uint64_t seed, int num_threads);

}  // namespace cloze::engine
