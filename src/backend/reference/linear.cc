#include "backend/reference/linear.h"

#include "backend/reference/activation.h"
#include "ops/linear.h"

namespace cloze::backend::reference {

template <typename X>
void Linear::run(const Call& call) {
  const auto activation = call.attributes<ops::LinearAttributes>().activation;
  const int64_t M = call.input_shape(0)[0];
  const int64_t K = call.input_shape(0)[1];
  const int64_t N = call.input_shape(1)[0];
  const Reader<X> x = call.read<X>(0);
  const RoundedReader<X> weight = call.read_rounded<X>(1);
  const Writer<X> y = call.write<X>(0);
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      double u = call.has_input(2) ? call.read<Parameter<X>>(2)[n] : 0.0;
      for (int64_t k = 0; k < K; ++k) u += x(m, k) * weight(n, k);
      y.put(m, n, activation ? gelu_value(*activation, u) : u);
      if (activation) call.write<X>(1).put(m, n, u);
    }
  }
}

template <typename X>
void LinearInputGradient::run(const Call& call) {
  const int64_t N = call.input_shape(1)[0];
  const int64_t K = call.input_shape(1)[1];
  const Reader<X> dy = call.read<X>(0);
  const RoundedReader<X> weight = call.read_rounded<X>(1);
  const Writer<X> dx = call.write<X>(0);
  for (int64_t m = 0; m < call.input_shape(0)[0]; ++m) {
    for (int64_t k = 0; k < K; ++k) {
      double sum = 0.0;
      for (int64_t n = 0; n < N; ++n) sum += dy(m, n) * weight(n, k);
      dx.put(m, k, sum);
    }
  }
}

template <typename X>
void LinearWeightGradient::run(const Call& call) {
  const int64_t M = call.input_shape(0)[0];
  const int64_t N = call.input_shape(0)[1];
  const int64_t K = call.input_shape(1)[1];
  const Reader<X> dy = call.read<X>(0);
  const Reader<X> x = call.read<X>(1);
  const Writer<Parameter<X>> dweight = call.write<Parameter<X>>(0);
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      double sum = 0.0;
      for (int64_t m = 0; m < M; ++m) sum += dy(m, n) * x(m, k);
      dweight.put(n, k, sum);
    }
    if (!call.has_output(1)) continue;
    double sum = 0.0;
    for (int64_t m = 0; m < M; ++m) sum += dy(m, n);
    call.write<Parameter<X>>(1).put(n, sum);
  }
}

CLOZE_REFERENCE_INSTANTIATE(Linear);
CLOZE_REFERENCE_INSTANTIATE(LinearInputGradient);
CLOZE_REFERENCE_INSTANTIATE(LinearWeightGradient);

}  // namespace cloze::backend::reference
