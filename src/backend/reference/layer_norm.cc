// layer_norm and dropout, and dropout_add_layer_norm, which is both. Formulas: ops/layer_norm.h.
#include "ops/layer_norm.h"

#include <cmath>

#include "backend/reference/dropout.h"
#include "backend/reference/kernels.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(LayerNorm, LayerNorm);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(LayerNormGradient, LayerNormGradient);
CLOZE_REFERENCE_KERNEL(Dropout, Dropout);
CLOZE_REFERENCE_KERNEL(DropoutAddLayerNorm, DropoutAddLayerNorm);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(DropoutAddLayerNormGradient, DropoutAddLayerNormGradient);

// A row of x [T, H] to the outputs of the Operator.
template <typename Operator, typename X>
void normalize_row(const Call& call, const Reader<X>& x, int64_t row, double epsilon) {
  using P = Parameter<X>;
  const Reader<P> gamma = call.read<P>(Operator::kGamma);
  const Reader<P> beta = call.read<P>(Operator::kBeta);
  const Writer<X> y = call.write<X>(Operator::kY);
  const int64_t channels = call.input_shape(Operator::kX)[1];
  double sum = 0.0;
  for (int64_t j = 0; j < channels; ++j) sum += x(row, j);
  const double mean = sum / static_cast<double>(channels);
  double squares = 0.0;
  for (int64_t j = 0; j < channels; ++j) squares += std::pow(x(row, j) - mean, 2);
  const double rstd = 1.0 / std::sqrt(squares / static_cast<double>(channels) + epsilon);
  for (int64_t j = 0; j < channels; ++j) {
    y.put(row, j, (x(row, j) - mean) * rstd * gamma[j] + beta[j]);
  }
  call.write<P>(Operator::kMean).put(row, mean);
  call.write<P>(Operator::kRstd).put(row, rstd);
}

// One row of the backward pass. The first inputs of both gradient operators are dy, x (or z),
// gamma, mean and rstd.
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

// dgamma and dbeta [H], outputs `first` and the next: sums over the rows. Workspace: two doubles per
// channel.
template <typename X>
void put_channel_gradients(const Call& call, size_t first) {
  const auto out_dgamma = call.write<Parameter<X>>(first);
  const auto out_dbeta = call.write<Parameter<X>>(first + 1);
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
    out_dgamma.put(j, dgamma[j]);
    out_dbeta.put(j, dbeta[j]);
  }
}

size_t channel_gradients_workspace_bytes(const KernelRequest& request) {
  return 2 * sizeof(double) *
         static_cast<size_t>(request.inputs[ops::LayerNormGradient::kX].shape[1]);
}

}  // namespace

template <typename X>
void LayerNorm::run(const Call& call) {
  const double epsilon = call.attributes<ops::LayerNormAttributes>().epsilon;
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    normalize_row<LayerNorm>(call, call.read<X>(kX), t, epsilon);
  }
}

template <typename X>
void LayerNormGradient::run(const Call& call) {
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    const LayerNormGradientRow<X> row(call, t);
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) dx.put(t, j, row.dx(j));
  }
  put_channel_gradients<X>(call, kDgamma);
}

size_t LayerNormGradient::workspace_bytes(const KernelRequest& request) {
  return channel_gradients_workspace_bytes(request);
}

template <typename X>
void Dropout::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  const ActivationDropout dropout(call, call.attributes<ops::DropoutAttributes>(), kSampleIds);
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    const DropoutRow mask = dropout.row(t);
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) y.put(t, j, x(t, j) * mask.factor(j));
  }
}

template <typename X>
void DropoutAddLayerNorm::run(const Call& call) {
  const auto& attributes = call.attributes<ops::DropoutAddLayerNormAttributes>();
  const Reader<X> x = call.read<X>(kX);
  const Reader<X> residual = call.read<X>(kResidual);
  const Writer<X> z = call.write<X>(kZ);
  const ActivationDropout dropout(call, attributes, kSampleIds);
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    const DropoutRow mask = dropout.row(t);
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) {
      z.put(t, j, residual(t, j) + x(t, j) * mask.factor(j));
    }
    // The statistics are of z as it is stored, so that the backward pass sees the same numbers.
    normalize_row<DropoutAddLayerNorm>(call, call.read_output<X>(kZ), t, attributes.epsilon);
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
  put_channel_gradients<X>(call, kDgamma);
}

size_t DropoutAddLayerNormGradient::workspace_bytes(const KernelRequest& request) {
  return channel_gradients_workspace_bytes(request);
}

KernelTable layer_norm_kernels() {
  return table_of<LayerNorm, LayerNormGradient, Dropout, DropoutAddLayerNorm,
                  DropoutAddLayerNormGradient>();
}

}  // namespace cloze::backend::reference
