#include "runtime/sum_of_squares.h"

#include "base/bfloat16.h"
#include "base/float16.h"
#include "runtime/value_slices.h"

namespace cloze::runtime {
namespace {

template <typename T>
double sum_of_squares_as(Executor& executor, graph::Value value) {
  double squares = 0.0;
  for (ValueSlices slices(executor, value); slices.next();) {
    for (const T element : slices.read<T>()) {
      const double one = static_cast<float>(element);
      squares += one * one;
    }
  }
  return squares;
}

}  // namespace

double sum_of_squares(Executor& executor, graph::Value value) {
  switch (executor.graph().type(value).dtype) {
    case DType::kBF16:
      return sum_of_squares_as<bfloat16>(executor, value);
    case DType::kF16:
      return sum_of_squares_as<float16>(executor, value);
    default:
      return sum_of_squares_as<float>(executor, value);
  }
}

}  // namespace cloze::runtime
