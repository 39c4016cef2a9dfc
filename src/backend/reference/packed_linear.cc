#include "backend/reference/packed_linear.h"

#include "backend/reference/activation.h"
#include "ops/packed_linear.h"

namespace cloze::backend::reference {

namespace {

// Where element (n, k) of a matrix is among its panels [panels, K, columns].
struct Panels {
  int64_t panels, K, columns;

  explicit Panels(const Shape& packed) : panels(packed[-3]), K(packed[-2]), columns(packed[-1]) {}
  int64_t at(int64_t n, int64_t k) const { return (n / columns * K + k) * columns + n % columns; }
  int64_t elements() const { return panels * K * columns; }
};

// Element (n, k) of the weight, from the blocks that a packed weight for Strassen's algorithm has.
template <typename X>
double weight_of_blocks(const Reader<X>& packed, const Panels& panels, int64_t n, int64_t k) {
  const int64_t half = panels.panels * panels.columns;
  const auto block = [&](int64_t index) {
    return packed[index * panels.elements() + panels.at(n % half, k % panels.K)];
  };
  if (k < panels.K) return n < half ? block(1) : block(2) + block(4);
  return n < half ? block(3) + block(1) : block(4);
}

}  // namespace

template <typename X>
void PackWeight::run(const Call& call) {
  const Shape& shape = call.request.outputs[0].shape;
  const Panels panels(shape);
  const int64_t N = call.input_shape(0)[0];
  const auto weight = call.read<Parameter<X>>(0);
  const Writer<X> packed = call.write<X>(0);
  const int64_t columns = panels.panels * panels.columns;  // of a block
  const bool is_strassen = ops::is_for_strassen(shape);
  const auto element = [&](int64_t block, int64_t n, int64_t k) {
    if (!is_strassen) return n < N ? weight(n, k) : 0.0;
    double sum = 0.0;
    for (int64_t q = 0; q < 4; ++q) {
      sum += ops::kStrassenBlocks[block][q] * weight(n + q % 2 * columns, k + q / 2 * panels.K);
    }
    return sum;
  };
  for (int64_t block = 0; block < shape.elements() / panels.elements(); ++block) {
    for (int64_t n = 0; n < columns; ++n) {
      for (int64_t k = 0; k < panels.K; ++k) {
        packed.put(block * panels.elements() + panels.at(n, k), element(block, n, k));
      }
    }
  }
}

template <typename X>
void PackedLinear::run(const Call& call) {
  const auto& attributes = call.attributes<ops::PackedLinearAttributes>();
  const int64_t K = call.input_shape(0)[1];
  const bool is_strassen = ops::is_for_strassen(call.input_shape(1));
  const Panels panels(call.input_shape(1));
  const auto x = call.read<Parameter<X>>(0);
  const Reader<X> packed = call.read<X>(1);
  const auto y = call.write<Parameter<X>>(0);
  for (int64_t m = 0; m < call.input_shape(0)[0]; ++m) {
    for (int64_t n = 0; n < attributes.outputs; ++n) {
      double u = call.has_input(2) ? call.read<Parameter<X>>(2)[n] : 0.0;
      for (int64_t k = 0; k < K; ++k) {
        u += x(m, k) *
             (is_strassen ? weight_of_blocks(packed, panels, n, k) : packed[panels.at(n, k)]);
      }
      y.put(m, n, attributes.activation ? gelu_value(*attributes.activation, u) : u);
    }
  }
}

CLOZE_REFERENCE_INSTANTIATE(PackWeight);
CLOZE_REFERENCE_INSTANTIATE(PackedLinear);

}  // namespace cloze::backend::reference
