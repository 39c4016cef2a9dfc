// What layer_norm and dropout_add_layer_norm share: the formulas of one row and of the channels.
// Formulas: ops/layer_norm.h.
#pragma once

#include <cmath>

#include "backend/reference/call.h"

namespace cloze::backend::reference {

template <typename X>
struct LayerNormTensors {
  Reader<X> x;                       // [T, H]
  Reader<Parameter<X>> gamma, beta;  // [H]
  Writer<X> y;                       // [T, H]
  Writer<Parameter<X>> mean, rstd;   // [T]
};

template <typename X>
void normalize_row(const LayerNormTensors<X>& in, int64_t row, int64_t channels, double epsilon) {
  double sum = 0.0;
  for (int64_t j = 0; j < channels; ++j) sum += in.x(row, j);
  const double mean = sum / static_cast<double>(channels);
  double squares = 0.0;
  for (int64_t j = 0; j < channels; ++j) squares += std::pow(in.x(row, j) - mean, 2);
  const double rstd = 1.0 / std::sqrt(squares / static_cast<double>(channels) + epsilon);
  for (int64_t j = 0; j < channels; ++j) {
    in.y.put(row, j, (in.x(row, j) - mean) * rstd * in.gamma[j] + in.beta[j]);
  }
  in.mean.put(row, mean);
  in.rstd.put(row, rstd);
}

// One row of the backward pass. Both gradient operators have the inputs dy, x (or z), gamma, mean
// and rstd in front.
template <typename X>
class LayerNormGradientRow : ops::LayerNormGradient {
 public:
  LayerNormGradientRow(const Call& call, int64_t row)
      : row_(row),
        dy_(call.read<X>(kDy)),
        x_(call.read<X>(kX)),
        gamma_(call.read<Parameter<X>>(kGamma)),
        mean_(call.read<Parameter<X>>(kMean)[row]),
        rstd_(call.read<Parameter<X>>(kRstd)[row]) {
    const int64_t channels = call.input_shape(kX)[1];
    for (int64_t j = 0; j < channels; ++j) {
      mean_g_ += g(j) / static_cast<double>(channels);
      mean_g_xhat_ += g(j) * xhat(j) / static_cast<double>(channels);
    }
  }
  double dy(int64_t j) const { return dy_(row_, j); }
  double xhat(int64_t j) const { return (x_(row_, j) - mean_) * rstd_; }
  double dx(int64_t j) const { return rstd_ * (g(j) - mean_g_ - xhat(j) * mean_g_xhat_); }

 private:
  double g(int64_t j) const { return dy(j) * gamma_[j]; }

  int64_t row_;
  Reader<X> dy_, x_;
  Reader<Parameter<X>> gamma_;
  double mean_, rstd_;
  double mean_g_ = 0.0;
  double mean_g_xhat_ = 0.0;
};

template <typename X>
struct ChannelGradients {
  Writer<Parameter<X>> dgamma, dbeta;  // [H]
};

// Sums over the rows; workspace: two doubles per channel.
template <typename X>
void put_channel_gradients(const Call& call, const ChannelGradients<X>& out) {
  const int64_t rows = call.input_shape(ops::LayerNormGradient::kX)[0];
  const int64_t channels = call.input_shape(ops::LayerNormGradient::kX)[1];
  double* dgamma = call.workspace();
  double* dbeta = dgamma + channels;
  for (int64_t j = 0; j < channels; ++j) dgamma[j] = dbeta[j] = 0.0;
  for (int64_t t = 0; t < rows; ++t) {
    const LayerNormGradientRow<X> row(call, t);
    for (int64_t j = 0; j < channels; ++j) {
      dgamma[j] += row.dy(j) * row.xhat(j);
      dbeta[j] += row.dy(j);
    }
  }
  for (int64_t j = 0; j < channels; ++j) {
    out.dgamma.put(j, dgamma[j]);
    out.dbeta.put(j, dbeta[j]);
  }
}

inline size_t channel_gradients_workspace_bytes(const KernelRequest& request) {
  return 2 * sizeof(double) *
         static_cast<size_t>(request.inputs[ops::LayerNormGradient::kX].shape[1]);
}

}  // namespace cloze::backend::reference
