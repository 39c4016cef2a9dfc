#include "backend/reference/squared_error.h"

#include <cmath>

namespace cloze::backend::reference {

template <typename X>
void SquaredError::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> predictions = call.read<X>(0);
  const Reader<P> targets = call.read<P>(1);
  double sum = 0.0;
  for (int64_t b = 0; b < call.input_shape(1)[0]; ++b) {
    if (std::isnan(targets[b])) continue;
    const double error = predictions[b] - targets[b];
    sum += error * error;
  }
  call.write<P>(0).put(0, call.read<P>(2)[0] * sum);
}

template <typename X>
void SquaredErrorGradient::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> predictions = call.read<X>(1);
  const Reader<P> targets = call.read<P>(2);
  const double scale = 2.0 * call.read<P>(0)[0] * call.read<P>(3)[0];
  const Writer<X> dpredictions = call.write<X>(0);
  for (int64_t b = 0; b < call.input_shape(2)[0]; ++b) {
    dpredictions.put(b, std::isnan(targets[b]) ? 0.0 : scale * (predictions[b] - targets[b]));
  }
}

CLOZE_REFERENCE_INSTANTIATE(SquaredError);
CLOZE_REFERENCE_INSTANTIATE(SquaredErrorGradient);

}  // namespace cloze::backend::reference
