// Reverse-mode automatic differentiation of the micro-step phase.
//
//   before                         after
//   x ─► linear ─► ... ─► loss     x ─► linear ─► ... ─► loss
//         ▲                              ▲
//         w                              w      w.gradient += linear_weight_gradient(dy, x)
//                                        ... ◄─ linear_input_gradient ◄─ dy ◄─ ... ◄─ seed
//
// Walks the forward nodes backwards and asks each operator's rule which nodes to append. Gradients
// that meet at an intermediate are added; gradients of parameters are accumulated into a variable
// "gradient.<parameter>" (role kGradient), which is made on first use.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace cloze::passes {

// A value, and an input of its type that is its gradient.
struct GivenGradient {
  graph::Value value;
  graph::Value gradient;
};

// given: such as each loss and the seed, an input [1] f32 of 1 or the loss scale.
// fixed: parameters that get no gradient; nothing is appended for what depends on no other.
void differentiate(graph::Graph& graph, const std::vector<GivenGradient>& given,
                   const std::vector<graph::Value>& fixed = {});

}  // namespace cloze::passes
