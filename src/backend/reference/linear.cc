#include "backend/reference/kernels.h"

#include "backend/reference/elementwise.h"
#include "ops/linear.h"

namespace cloze::backend::reference {

template <typename X>
void Linear::run(const Call& call) {
  const auto activation = call.attributes<ops::LinearAttributes>().activation;
  const int64_t M = call.input_shape(kX)[0];
  const int64_t K = call.input_shape(kX)[1];
  const int64_t N = call.input_shape(kWeight)[0];
  const Reader<X> x = call.read<X>(kX);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      double u = call.has_input(kBias) ? call.read<Parameter<X>>(kBias)[n] : 0.0;
      for (int64_t k = 0; k < K; ++k) u += x(m, k) * weight(n, k);
      y.put(m, n, activation ? gelu_value(*activation, u) : u);
      if (activation) call.write<X>(kU).put(m, n, u);
    }
  }
}

template <typename X>
void LinearInputGradient::run(const Call& call) {
  const int64_t N = call.input_shape(kWeight)[0];
  const int64_t K = call.input_shape(kWeight)[1];
  const Reader<X> dy = call.read<X>(kDy);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t m = 0; m < call.input_shape(kDy)[0]; ++m) {
    for (int64_t k = 0; k < K; ++k) {
      double sum = 0.0;
      for (int64_t n = 0; n < N; ++n) sum += dy(m, n) * weight(n, k);
      dx.put(m, k, sum);
    }
  }
}

template <typename X>
void LinearWeightGradient::run(const Call& call) {
  const int64_t M = call.input_shape(kDy)[0];
  const int64_t N = call.input_shape(kDy)[1];
  const int64_t K = call.input_shape(kX)[1];
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<Parameter<X>> dweight = call.write<Parameter<X>>(kDweight);
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      double sum = 0.0;
      for (int64_t m = 0; m < M; ++m) sum += dy(m, n) * x(m, k);
      dweight.put(n, k, sum);
    }
    if (!call.has_output(kDbias)) continue;
    double sum = 0.0;
    for (int64_t m = 0; m < M; ++m) sum += dy(m, n);
    call.write<Parameter<X>>(kDbias).put(n, sum);
  }
}

CLOZE_REFERENCE_INSTANTIATE(Linear);
CLOZE_REFERENCE_INSTANTIATE(LinearInputGradient);
CLOZE_REFERENCE_INSTANTIATE(LinearWeightGradient);

}  // namespace cloze::backend::reference
