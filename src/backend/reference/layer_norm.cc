#include "backend/reference/layer_norm.h"

#include "backend/reference/layer_norm_rows.h"
#include "ops/layer_norm.h"

namespace cloze::backend::reference {

template <typename X>
void LayerNorm::run(const Call& call) {
  using P = Parameter<X>;
  const LayerNormTensors<X> tensors{.x = call.read<X>(0),
                                    .gamma = call.read<P>(1),
                                    .beta = call.read<P>(2),
                                    .y = call.write<X>(0),
                                    .mean = call.write<P>(1),
                                    .rstd = call.write<P>(2)};
  const double epsilon = call.attributes<ops::LayerNormAttributes>().epsilon;
  for (int64_t t = 0; t < call.input_shape(0)[0]; ++t) {
    normalize_row(tensors, t, call.input_shape(0)[1], epsilon);
  }
}

template <typename X>
void LayerNormGradient::run(const Call& call) {
  const Writer<X> dx = call.write<X>(0);
  for (int64_t t = 0; t < call.input_shape(1)[0]; ++t) {
    const LayerNormGradientRow<X> row(call, t);
    for (int64_t j = 0; j < call.input_shape(1)[1]; ++j) dx.put(t, j, row.dx(j));
  }
  put_channel_gradients<X>(
      call, {.dgamma = call.write<Parameter<X>>(1), .dbeta = call.write<Parameter<X>>(2)});
}

size_t LayerNormGradient::workspace_bytes(const KernelRequest& request) {
  return channel_gradients_workspace_bytes(request);
}

CLOZE_REFERENCE_INSTANTIATE(LayerNorm);
CLOZE_REFERENCE_INSTANTIATE(LayerNormGradient);

}  // namespace cloze::backend::reference
