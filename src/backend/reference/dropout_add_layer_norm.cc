#include "backend/reference/kernels.h"

#include "backend/reference/dropout.h"
#include "backend/reference/layer_norm_rows.h"
#include "ops/dropout_add_layer_norm.h"

namespace cloze::backend::reference {

template <typename X>
void DropoutAddLayerNorm::run(const Call& call) {
  using P = Parameter<X>;
  const auto& attributes = call.attributes<ops::DropoutAddLayerNormAttributes>();
  const int64_t channels = call.input_shape(kX)[1];
  const Reader<X> x = call.read<X>(kX);
  const Reader<X> residual = call.read<X>(kResidual);
  const Writer<X> z = call.write<X>(kZ);
  const ActivationDropout dropout(call, attributes, kSampleIds);
  // The statistics are of z as it is stored, so that the backward pass sees the same numbers.
  const LayerNormTensors<X> tensors{.x = call.read_output<X>(kZ),
                                    .gamma = call.read<P>(kGamma),
                                    .beta = call.read<P>(kBeta),
                                    .y = call.write<X>(kY),
                                    .mean = call.write<P>(kMean),
                                    .rstd = call.write<P>(kRstd)};
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    const DropoutRow mask = dropout.row(t);
    for (int64_t j = 0; j < channels; ++j) {
      z.put(t, j, residual(t, j) + x(t, j) * mask.factor(j));
    }
    normalize_row(tensors, t, channels, attributes.epsilon);
  }
}

template <typename X>
void DropoutAddLayerNormGradient::run(const Call& call) {
  const auto& attributes = call.attributes<ops::DropoutAddLayerNormAttributes>();
  const Writer<X> dx = call.write<X>(kDx);
  const Writer<X> dresidual = call.write<X>(kDresidual);
  const bool is_read = call.has_input(kDzRead);
  const Reader<X> dz_read = call.read<X>(is_read ? kDzRead : kDy);
  const ActivationDropout dropout(call, attributes, kSampleIds);
  for (int64_t t = 0; t < call.input_shape(kZ)[0]; ++t) {
    const LayerNormGradientRow<X> row(call, t);
    const DropoutRow mask = dropout.row(t);
    for (int64_t j = 0; j < call.input_shape(kZ)[1]; ++j) {
      const double dz = row.dx(j) + (is_read ? dz_read(t, j) : 0.0);
      dresidual.put(t, j, dz);
      dx.put(t, j, dz * mask.factor(j));
    }
  }
  put_channel_gradients<X>(call, {.dgamma = call.write<Parameter<X>>(kDgamma),
                                  .dbeta = call.write<Parameter<X>>(kDbeta)});
}

size_t DropoutAddLayerNormGradient::workspace_bytes(const KernelRequest& request) {
  return channel_gradients_workspace_bytes(request);
}

CLOZE_REFERENCE_INSTANTIATE(DropoutAddLayerNorm);
CLOZE_REFERENCE_INSTANTIATE(DropoutAddLayerNormGradient);

}  // namespace cloze::backend::reference
