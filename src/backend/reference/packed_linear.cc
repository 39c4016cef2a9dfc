#include "backend/reference/packed_linear.h"

#include "backend/reference/activation.h"
#include "ops/packed_linear.h"

namespace cloze::backend::reference {

template <typename X>
void PackWeight::run(const Call& call) {
  const int64_t columns = call.attributes<ops::PackWeightAttributes>().panel_columns;
  const int64_t N = call.input_shape(0)[0];
  const int64_t K = call.input_shape(0)[1];
  const auto weight = call.read<Parameter<X>>(0);
  const Writer<X> packed = call.write<X>(0);
  for (int64_t n = 0; n < (N + columns - 1) / columns * columns; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      const int64_t at = (n / columns * K + k) * columns + n % columns;
      packed.put(at, n < N ? weight(n, k) : 0.0);
    }
  }
}

template <typename X>
void PackedLinear::run(const Call& call) {
  const auto& attributes = call.attributes<ops::PackedLinearAttributes>();
  const int64_t K = call.input_shape(0)[1];
  const int64_t columns = call.input_shape(1)[2];
  const auto x = call.read<Parameter<X>>(0);
  const Reader<X> packed = call.read<X>(1);
  const auto y = call.write<Parameter<X>>(0);
  for (int64_t m = 0; m < call.input_shape(0)[0]; ++m) {
    for (int64_t n = 0; n < attributes.outputs; ++n) {
      double u = call.has_input(2) ? call.read<Parameter<X>>(2)[n] : 0.0;
      for (int64_t k = 0; k < K; ++k) {
        u += x(m, k) * packed[(n / columns * K + k) * columns + n % columns];
      }
      y.put(m, n, attributes.activation ? gelu_value(*attributes.activation, u) : u);
    }
  }
}

CLOZE_REFERENCE_INSTANTIATE(PackWeight);
CLOZE_REFERENCE_INSTANTIATE(PackedLinear);

}  // namespace cloze::backend::reference
