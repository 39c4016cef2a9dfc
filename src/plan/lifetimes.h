// The lifetime of each intermediate of a phase, counted in the launches of that phase: from the one
// that writes it to the last one that reads it; an output of the graph until the phase ends.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "plan/memory_plan.h"

namespace cloze::plan {

// Lifetimes by value; nothing for what is not an intermediate of this phase.
std::vector<std::optional<Lifetime>> lifetimes_of(const graph::Graph& graph, graph::Phase phase);

}  // namespace cloze::plan
