#include "backend/reference/kernels.h"

#include "backend/reference/layer_norm_rows.h"
#include "ops/layer_norm.h"

namespace cloze::backend::reference {

template <typename X>
void LayerNorm::run(const Call& call) {
  using P = Parameter<X>;
  const LayerNormTensors<X> tensors{.x = call.read<X>(kX),
                                    .gamma = call.read<P>(kGamma),
                                    .beta = call.read<P>(kBeta),
                                    .y = call.write<X>(kY),
                                    .mean = call.write<P>(kMean),
                                    .rstd = call.write<P>(kRstd)};
  const double epsilon = call.attributes<ops::LayerNormAttributes>().epsilon;
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    normalize_row(tensors, t, call.input_shape(kX)[1], epsilon);
  }
}

template <typename X>
void LayerNormGradient::run(const Call& call) {
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    const LayerNormGradientRow<X> row(call, t);
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) dx.put(t, j, row.dx(j));
  }
  put_channel_gradients<X>(call, {.dgamma = call.write<Parameter<X>>(kDgamma),
                                  .dbeta = call.write<Parameter<X>>(kDbeta)});
}

size_t LayerNormGradient::workspace_bytes(const KernelRequest& request) {
  return channel_gradients_workspace_bytes(request);
}

CLOZE_REFERENCE_INSTANTIATE(LayerNorm);
CLOZE_REFERENCE_INSTANTIATE(LayerNormGradient);

}  // namespace cloze::backend::reference
