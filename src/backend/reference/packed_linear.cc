#include "backend/reference/packed_linear.h"

#include "backend/reference/activation.h"
#include "base/error.h"
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

// Where element (n, k) of a weight in pairs is.
int64_t place_in_pairs(const Shape& packed, int64_t n, int64_t k) {
  using ops::kPairColumns;
  using ops::kPairDepth;
  const int64_t block = n / kPairColumns * packed[1] + k / kPairDepth;
  const int64_t pair = (block * kPairDepth + k % kPairDepth) / 2;
  return (pair * kPairColumns + n % kPairColumns) * 2 + k % 2;
}

template <typename X>
void pack_pairs(const Call& call) {
  const Shape& shape = call.output_shape(0);
  const Shape& weight_shape = call.input_shape(0);
  const auto weight = call.read<Parameter<X>>(0);
  const Writer<X> packed = call.write<X>(0);
  for (int64_t n = 0; n < shape[0] * ops::kPairColumns; ++n) {
    for (int64_t k = 0; k < shape[1] * ops::kPairDepth; ++k) {
      const bool is_inside = n < weight_shape[0] && k < weight_shape[1];
      packed.put(place_in_pairs(shape, n, k), is_inside ? weight(n, k) : 0.0);
    }
  }
}

// Element (n, k) of the weight.
template <typename X>
double weight_of(const Reader<X>& packed, const Shape& shape, int64_t n, int64_t k) {
  switch (ops::layout_of(shape)) {
    case ops::WeightLayout::kPanels:
      return packed[Panels(shape).at(n, k)];
    case ops::WeightLayout::kStrassen:
      return weight_of_blocks(packed, Panels(shape), n, k);
    case ops::WeightLayout::kPairs:
      return packed[place_in_pairs(shape, n, k)];
  }
  CLOZE_CHECK(false, "no such layout");
}

// x of dtype In by a packed weight of dtype X to y of dtype Out.
template <typename X, typename In, typename Out>
void multiply_by(const Call& call, int64_t i) {
  const auto& attributes = call.attributes<ops::PackedLinearAttributes>();
  const size_t bias = ops::bias_input(attributes, i);
  const Shape& shape = call.input_shape(1);
  const int64_t K = call.input_shape(0)[1];
  const int64_t N = attributes.outputs;
  const Reader<X> packed = call.read<X>(ops::packed_input(i));
  double* weight = call.workspace();
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) weight[n * K + k] = weight_of(packed, shape, n, k);
  }
  const Reader<In> x = call.read<In>(0);
  const Writer<Out> y = call.write<Out>(static_cast<size_t>(i));
  for (int64_t m = 0; m < call.input_shape(0)[0]; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      double u = call.has_input(bias) ? call.read<Parameter<X>>(bias)[n] : 0.0;
      for (int64_t k = 0; k < K; ++k) u += x(m, k) * weight[n * K + k];
      y.put(m, n, attributes.activation ? gelu_value(*attributes.activation, u) : u);
    }
  }
}

template <typename X, typename In, typename Out>
void multiply(const Call& call) {
  const int64_t num_weights = call.attributes<ops::PackedLinearAttributes>().num_weights;
  for (int64_t i = 0; i < num_weights; ++i) multiply_by<X, In, Out>(call, i);
}

}  // namespace

template <typename X>
void PackWeight::run(const Call& call) {
  const Shape& shape = call.request.outputs[0].shape;
  const ops::WeightLayout layout = ops::layout_of(shape);
  if (layout == ops::WeightLayout::kPairs) return pack_pairs<X>(call);
  const Panels panels(shape);
  const int64_t N = call.input_shape(0)[0];
  const auto weight = call.read<Parameter<X>>(0);
  const Writer<X> packed = call.write<X>(0);
  const int64_t columns = panels.panels * panels.columns;  // of a block
  const auto element = [&](int64_t block, int64_t n, int64_t k) {
    if (layout == ops::WeightLayout::kPanels) return n < N ? weight(n, k) : 0.0;
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

size_t PackedLinear::workspace_bytes(const KernelRequest& request) {
  const int64_t weight = request.inputs[0].shape[1] * request.outputs[0].shape[1];
  return static_cast<size_t>(weight) * sizeof(double);
}

template <typename X>
void PackedLinear::run(const Call& call) {
  if (call.request.inputs[0].dtype == DType::kF32)
    return multiply<X, Parameter<X>, Parameter<X>>(call);
  if (call.request.outputs[0].dtype == DType::kF32) return multiply<X, X, Parameter<X>>(call);
  multiply<X, X, X>(call);
}

CLOZE_REFERENCE_INSTANTIATE(PackWeight);
CLOZE_REFERENCE_INSTANTIATE(PackedLinear);

}  // namespace cloze::backend::reference
