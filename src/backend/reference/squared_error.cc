#include "ops/squared_error.h"

#include <cmath>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(SquaredError, SquaredError);
CLOZE_REFERENCE_KERNEL(SquaredErrorGradient, SquaredErrorGradient);

}  // namespace

template <typename X>
void SquaredError::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> predictions = call.read<X>(kPredictions);
  const Reader<P> targets = call.read<P>(kTargets);
  double sum = 0.0;
  for (int64_t b = 0; b < call.input_shape(kTargets)[0]; ++b) {
    if (std::isnan(targets[b])) continue;
    const double error = predictions[b] - targets[b];
    sum += error * error;
  }
  call.write<P>(kLoss).put(0, call.read<P>(kNormalizer)[0] * sum);
}

template <typename X>
void SquaredErrorGradient::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> predictions = call.read<X>(kPredictions);
  const Reader<P> targets = call.read<P>(kTargets);
  const double scale = 2.0 * call.read<P>(kDloss)[0] * call.read<P>(kNormalizer)[0];
  const Writer<X> dpredictions = call.write<X>(kDpredictions);
  for (int64_t b = 0; b < call.input_shape(kTargets)[0]; ++b) {
    dpredictions.put(b, std::isnan(targets[b]) ? 0.0 : scale * (predictions[b] - targets[b]));
  }
}

KernelTable squared_error_kernels() { return table_of<SquaredError, SquaredErrorGradient>(); }

}  // namespace cloze::backend::reference
