#include "ops/packed_linear.h"

#include "backend/reference/elementwise.h"
#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(PackWeight, PackWeight);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(PackedLinear, PackedLinear);

// x of dtype In by a packed weight of dtype X to y of dtype Out.
template <typename X, typename In, typename Out>
void multiply_by(const Call& call, int64_t i) {
  const auto& attributes = call.attributes<ops::PackedLinearAttributes>();
  const size_t bias = ops::bias_input(attributes, i);
  const Shape& x_shape = call.input_shape(PackedLinear::kX);
  const int64_t K = x_shape[1];
  const int64_t N = attributes.outputs;
  const Reader<X> packed = call.read<X>(ops::packed_input(i));
  double* weight = call.workspace();
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) weight[n * K + k] = packed[attributes.layout.place(n, k, K)];
  }
  const Reader<In> x = call.read<In>(PackedLinear::kX);
  const Writer<Out> y = call.write<Out>(static_cast<size_t>(i));
  for (int64_t m = 0; m < x_shape[0]; ++m) {
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
  const auto& layout = call.attributes<ops::PackWeightAttributes>().layout;
  const Shape& shape = call.input_shape(kWeight);
  const auto weight = call.read<Parameter<X>>(kWeight);
  const Writer<X> packed = call.write<X>(kPacked);
  for (int64_t i = 0; i < call.output_shape(kPacked).elements(); ++i) packed.put(i, 0.0);
  const int64_t K = shape.elements() / shape[0];
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t k = 0; k < K; ++k) packed.put(layout.place(n, k, K), weight[n * K + k]);
  }
}

size_t PackedLinear::workspace_bytes(const KernelRequest& request) {
  const int64_t weight = request.inputs[kX].shape[1] * request.outputs[kY].shape[1];
  return static_cast<size_t>(weight) * sizeof(double);
}

template <typename X>
void PackedLinear::run(const Call& call) {
  if (call.request.inputs[kX].dtype == DType::kF32)
    return multiply<X, Parameter<X>, Parameter<X>>(call);
  if (call.request.outputs[kY].dtype == DType::kF32) return multiply<X, X, Parameter<X>>(call);
  multiply<X, X, X>(call);
}

KernelTable packed_linear_kernels() { return table_of<PackWeight, PackedLinear>(); }

}  // namespace cloze::backend::reference
