#include "train/tensor_norms.h"

#include <cmath>

#include "runtime/sum_of_squares.h"

namespace cloze::train {

double norm_of(engine::Session& session, graph::Value value) {
  return std::sqrt(runtime::sum_of_squares(session.executor(), value));
}

std::vector<TensorNorm> tensor_norms(engine::Session& session, double loss_scale) {
  std::vector<TensorNorm> norms;
  const graph::Graph& graph = session.graph();
  for (const graph::Value gradient : graph.variables(graph::VariableRole::kGradient)) {
    const graph::Value weight = graph.info(gradient).master;
    norms.push_back({.name = graph.info(weight).name,
                     .weight = norm_of(session, weight),
                     .gradient = norm_of(session, gradient) / loss_scale});
  }
  return norms;
}

}  // namespace cloze::train
