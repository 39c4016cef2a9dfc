// A program of three launches for the tests of this folder: t = x + x, and in layer 0 y = x w^T in
// each micro-batch; s = x + x in the update.
#pragma once

#include "engine/session.h"
#include "ops/elementwise.h"
#include "ops/linear.h"

namespace cloze::forecast {

inline plan::Program sums_program() {
  graph::Graph graph;
  const auto x = graph.add_input("x", {DType::kF32, {4, 16}});
  const auto w = graph.add_input("w", {DType::kF32, {8, 16}});
  const auto t = graph.add_one(ops::kAdd, {x, x});
  {
    const auto layer = graph.layer_scope("layer", 0);
    graph.mark_output(ops::linear(graph, {.x = t, .weight = w}), "y");
  }
  const auto update = graph.phase_scope(graph::kUpdate);
  graph.mark_output(graph.add_one(ops::kAdd, {x, x}), "s");
  return engine::compile(std::move(graph), {.target = {.threads = 1}});
}

inline constexpr double kProductFlops = 2.0 * 4 * 16 * 8;
inline constexpr int64_t kSumBytes = 3 * 4 * 16 * 4;  // of one addition, read and written

}  // namespace cloze::forecast
