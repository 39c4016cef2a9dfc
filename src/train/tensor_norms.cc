#include "train/tensor_norms.h"

#include <cmath>

#include "base/bfloat16.h"
#include "base/float16.h"
#include "runtime/value_slices.h"

namespace cloze::train {
namespace {

template <typename T>
double sum_of_squares_as(engine::Session& session, graph::Value value) {
  double squares = 0.0;
  for (runtime::ValueSlices slices(session.executor(), value); slices.next();) {
    for (const T element : slices.read<T>()) {
      const double one = static_cast<float>(element);
      squares += one * one;
    }
  }
  return squares;
}

}  // namespace

double sum_of_squares(engine::Session& session, graph::Value value) {
  switch (session.graph().type(value).dtype) {
    case DType::kBF16:
      return sum_of_squares_as<bfloat16>(session, value);
    case DType::kF16:
      return sum_of_squares_as<float16>(session, value);
    default:
      return sum_of_squares_as<float>(session, value);
  }
}

double norm_of(engine::Session& session, graph::Value value) {
  return std::sqrt(sum_of_squares(session, value));
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
