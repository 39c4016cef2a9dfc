// layer_norm and dropout, and dropout_add_layer_norm, which is both. Formulas: ops/layer_norm.h.
#include "ops/layer_norm.h"

#include "backend/gpu/column_sums.h"
#include "backend/gpu/dropout.h"
#include "backend/gpu/kernels.h"
#include "base/division.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

constexpr int kRowThreads = 128;  // a warp for each row

Grid grid_of_rows(int64_t rows) { return {divide_up(rows, int64_t{kRowThreads / kWarp})}; }

// y = x through the mask. A thread has a counter of a row.
template <typename T>
struct DropElements {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<const T> x;
    Global<T> y;
    RowDropout dropout;
    int64_t rows, columns;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t counters = (in.columns + kHalves - 1) / kHalves;
    const int64_t row = global_thread<DropElements>() / counters;
    if (row >= in.rows) return;
    const DropoutRow mask(in.dropout, row);
    const int64_t counter = global_thread<DropElements>() % counters;
    visit_counter(mask, in.columns, counter, [&](int64_t column, float factor) {
      const int64_t at = row * in.columns + column;
      in.y.store(at, from_float<T>(to_float(in.x.load(at)) * factor));
    });
  }
};

// layer_norm; with kAdds, of z = residual + dropout(x), which it writes.
template <typename T, bool kAdds>
struct NormalizeRow {
  static constexpr int kThreads = kRowThreads;
  struct Arguments {
    Global<const T> x, residual;
    Global<const float> gamma, beta;
    RowDropout dropout;
    Global<T> y, z;
    Global<float> mean, rstd;
    int64_t rows, columns;
    float epsilon;
  };

  CLOZE_DEVICE static void add(const Arguments& in, int64_t row) {
    const DropoutRow mask(in.dropout, row);
    visit_columns(mask, in.columns, [&](int64_t column, float factor) {
      const int64_t at = row * in.columns + column;
      const float z = fused(to_float(in.x.load(at)), factor, to_float(in.residual.load(at)));
      in.z.store(at, from_float<T>(z));
    });
  }

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t row = global_warp<NormalizeRow>();
    if (row >= in.rows) return;
    if constexpr (kAdds) add(in, row);
    const auto value = [&](int64_t column) {
      const int64_t at = row * in.columns + column;
      if constexpr (kAdds) return to_float(in.z.load(at));
      return to_float(in.x.load(at));
    };
    float sum = 0.0f;
    visit_columns(in.columns, [&](int64_t column) { sum += value(column); });
    const auto columns = static_cast<float>(in.columns);
    const float mean = warp_sum(sum) / columns;
    float squares = 0.0f;
    visit_columns(in.columns, [&](int64_t column) {
      const float difference = value(column) - mean;
      squares = fused(difference, difference, squares);
    });
    const float rstd = 1.0f / square_root(warp_sum(squares) / columns + in.epsilon);
    visit_columns(in.columns, [&](int64_t column) {
      const float normal = (value(column) - mean) * rstd;
      const float y = fused(normal, in.gamma.load(column), in.beta.load(column));
      in.y.store(row * in.columns + column, from_float<T>(y));
    });
    if (lane() == 0) {
      in.mean.store(row, mean);
      in.rstd.store(row, rstd);
    }
  }
};

// The gradients of a row: dx of layer_norm; with kAdds dresidual and, through the mask, dx.
template <typename T, bool kAdds>
struct NormalizeRowGradient {
  static constexpr int kThreads = kRowThreads;
  struct Arguments {
    Global<const T> dy, x, dz_read;  // dz_read may be missing
    Global<const float> gamma, mean, rstd;
    RowDropout dropout;
    Global<T> dx, dresidual;
    int64_t rows, columns;
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t row = global_warp<NormalizeRowGradient>();
    if (row >= in.rows) return;
    const float mean = in.mean.load(row), rstd = in.rstd.load(row);
    const auto g = [&](int64_t column) {
      return to_float(in.dy.load(row * in.columns + column)) * in.gamma.load(column);
    };
    const auto xhat = [&](int64_t column) {
      return (to_float(in.x.load(row * in.columns + column)) - mean) * rstd;
    };
    float sum = 0.0f, sum_xhat = 0.0f;
    visit_columns(in.columns, [&](int64_t column) {
      const float g_here = g(column);
      sum += g_here;
      sum_xhat = fused(g_here, xhat(column), sum_xhat);
    });
    const auto columns = static_cast<float>(in.columns);
    const float mean_g = warp_sum(sum) / columns;
    const float mean_g_xhat = warp_sum(sum_xhat) / columns;
    const DropoutRow mask(in.dropout, row);
    visit_columns(mask, in.columns, [&](int64_t column, float factor) {
      const int64_t at = row * in.columns + column;
      float dz = rstd * fused(-xhat(column), mean_g_xhat, g(column) - mean_g);
      if constexpr (kAdds) {
        if (in.dz_read) dz += to_float(in.dz_read.load(at));
        in.dresidual.store(at, from_float<T>(dz));
        dz *= factor;
      }
      in.dx.store(at, from_float<T>(dz));
    });
  }
};

// dgamma = sum_t dy xhat;  dbeta = sum_t dy.
template <typename T>
struct ChannelTerms {
  static constexpr int kSums = 2;
  struct Inputs {
    Global<const T> dy, x;
    Global<const float> mean, rstd;
    int64_t columns;
  };
  CLOZE_DEVICE static void add(const Inputs& in, int64_t row, int64_t column, float (&sums)[2]) {
    const int64_t at = row * in.columns + column;
    const float dy = to_float(in.dy.load(at));
    const float xhat = (to_float(in.x.load(at)) - in.mean.load(row)) * in.rstd.load(row);
    sums[0] = fused(dy, xhat, sums[0]);
    sums[1] += dy;
  }
};

SummedShape summed_shape(const Shape& shape) { return {shape[0], shape[1]}; }

// The first inputs of both gradient operators are dy, x (or z), gamma, mean and rstd.
template <typename T, bool kAdds>
void run_gradient(const Call& call, const RowDropout& dropout, size_t dz_read, size_t dresidual,
                  size_t dgamma) {
  using Op = ops::LayerNormGradient;
  const SummedShape shape = summed_shape(call.input_shape(Op::kX));
  const auto dy = call.input<T>(Op::kDy), x = call.input<T>(Op::kX);
  const auto mean = call.input<float>(Op::kMean), rstd = call.input<float>(Op::kRstd);
  call.launch<NormalizeRowGradient<T, kAdds>>(
      grid_of_rows(shape.rows),
      {dy, x, kAdds ? call.input<T>(dz_read) : Global<const T>(), call.input<float>(Op::kGamma),
       mean, rstd, dropout, call.output<T>(Op::kDx),
       kAdds ? call.output<T>(dresidual) : Global<T>(), shape.rows, shape.columns});
  sum_columns<ChannelTerms<T>>(call, {dy, x, mean, rstd, shape.columns}, shape,
                               outputs_of<2>(call, {dgamma, dgamma + 1}));
}

size_t channel_bytes(const KernelRequest& request) {
  const SummedShape shape = summed_shape(request.inputs[ops::LayerNormGradient::kX].shape);
  return static_cast<size_t>(shape.part_elements(2)) * sizeof(float);
}

struct Dropout {
  static constexpr const graph::OpDefinition& kOp = ops::kDropout;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::Dropout;
    using Kernel = DropElements<T>;
    const Shape& shape = call.input_shape(Op::kX);
    const auto dropout =
        RowDropout::of(call, call.attributes<ops::DropoutAttributes>(), Op::kSampleIds);
    const int64_t counters = ops::dropout_blocks(shape[1]);
    call.launch<Kernel>(
        {divide_up(shape[0] * counters, int64_t{Kernel::kThreads})},
        {call.input<T>(Op::kX), call.output<T>(Op::kY), dropout, shape[0], shape[1]});
  }
};

struct LayerNorm {
  static constexpr const graph::OpDefinition& kOp = ops::kLayerNorm;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::LayerNorm;
    const Shape& shape = call.input_shape(Op::kX);
    const double epsilon = call.attributes<ops::LayerNormAttributes>().epsilon;
    call.launch<NormalizeRow<T, false>>(grid_of_rows(shape[0]), {call.input<T>(Op::kX),
                                                                 {},
                                                                 call.input<float>(Op::kGamma),
                                                                 call.input<float>(Op::kBeta),
                                                                 {},
                                                                 call.output<T>(Op::kY),
                                                                 {},
                                                                 call.output<float>(Op::kMean),
                                                                 call.output<float>(Op::kRstd),
                                                                 shape[0],
                                                                 shape[1],
                                                                 static_cast<float>(epsilon)});
  }
};

struct DropoutAddLayerNorm {
  static constexpr const graph::OpDefinition& kOp = ops::kDropoutAddLayerNorm;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::DropoutAddLayerNorm;
    const Shape& shape = call.input_shape(Op::kX);
    const auto& attributes = call.attributes<ops::DropoutAddLayerNormAttributes>();
    call.launch<NormalizeRow<T, true>>(
        grid_of_rows(shape[0]),
        {call.input<T>(Op::kX), call.input<T>(Op::kResidual), call.input<float>(Op::kGamma),
         call.input<float>(Op::kBeta), RowDropout::of(call, attributes, Op::kSampleIds),
         call.output<T>(Op::kY), call.output<T>(Op::kZ), call.output<float>(Op::kMean),
         call.output<float>(Op::kRstd), shape[0], shape[1],
         static_cast<float>(attributes.epsilon)});
  }
};

struct LayerNormGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kLayerNormGradient;
  template <typename T>
  static void run(const Call& call) {
    run_gradient<T, false>(call, {}, 0, 0, ops::LayerNormGradient::kDgamma);
  }
  static size_t workspace_bytes(const KernelRequest& request) { return channel_bytes(request); }
};

struct DropoutAddLayerNormGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kDropoutAddLayerNormGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::DropoutAddLayerNormGradient;
    const auto& attributes = call.attributes<ops::DropoutAddLayerNormAttributes>();
    run_gradient<T, true>(call, RowDropout::of(call, attributes, Op::kSampleIds), Op::kDzRead,
                          Op::kDresidual, Op::kDgamma);
  }
  static size_t workspace_bytes(const KernelRequest& request) { return channel_bytes(request); }
};

}  // namespace

KernelTable layer_norm_kernels() {
  return table_of<Dropout, DropoutAddLayerNorm, DropoutAddLayerNormGradient, LayerNorm,
                  LayerNormGradient>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
