// layer_norm and dropout, and dropout_add_layer_norm, which is both. Formulas: ops/layer_norm.h.
// Parameters and statistics are f32.
#include "ops/layer_norm.h"

#include <cmath>
#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
#include "backend/cpu/storage.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/layer_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/dropout_mask-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

struct RowStatistics {
  float mean;
  float rstd;
};

// The rounding of the mean matters where the mean is large next to the standard deviation: the
// exact mean is rounded.mean + rest.
struct ExactStatistics {
  RowStatistics rounded;
  float rest;
};

// Two passes, as subtracting squares of large numbers would lose the variance.
template <class T>
HWY_INLINE ExactStatistics StatisticsOfRow(const T* x, int64_t n, float epsilon) {
  const FloatTag d;
  const float share = 1.0f / static_cast<float>(n);
  const float mean =
      SumOfTerms(d, n, [&](int64_t i, auto part) HWY_ATTR { return LoadFloats(d, x + i, part); }) *
      share;
  const FloatVector center = hn::Set(d, mean);
  const PairOfSums sums = SumPairs(n, [&](int64_t i, auto part, PairOfSums& to) HWY_ATTR {
    const FloatVector distance = Keep(d, hn::Sub(LoadFloats(d, x + i, part), center), part);
    to.first = hn::Add(to.first, distance);
    to.second = hn::MulAdd(distance, distance, to.second);
  });
  const float rest = hn::GetLane(sums.first) * share;
  const float variance = HWY_MAX(hn::GetLane(sums.second) * share - rest * rest, 0.0f);
  return {{mean, 1.0f / std::sqrt(variance + epsilon)}, rest};
}

// y = (x - mean) rstd gamma + beta for one row of n channels.
template <class T>
HWY_INLINE RowStatistics NormalizeRow(const T* x, const float* gamma, const float* beta, int64_t n,
                                      float epsilon, T* y) {
  const FloatTag d;
  const ExactStatistics statistics = StatisticsOfRow(x, n, epsilon);
  const FloatVector mean = hn::Set(d, statistics.rounded.mean);
  const FloatVector rstd = hn::Set(d, statistics.rounded.rstd);
  const FloatVector shift = hn::Set(d, statistics.rest * statistics.rounded.rstd);
  ForEachVector(d, n, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector xhat = hn::MulSub(hn::Sub(LoadFloats(d, x + i, part), mean), rstd, shift);
    const FloatVector scaled =
        hn::MulAdd(xhat, LoadFloats(d, gamma + i, part), LoadFloats(d, beta + i, part));
    StoreFloats(d, scaled, y + i, part);
  });
  return {statistics.rounded.mean + statistics.rest, statistics.rounded.rstd};
}

// What the gradient of one row reads, and the sums over rows that it adds to.
template <class T>
struct GradientRow {
  const T* dy;
  const T* x;
  const float* gamma;
  RowStatistics statistics;
  int64_t channels;
  float* dgamma;  // [channels], added to
  float* dbeta;   // [channels], added to
};

// store(i, part, dx) for the vectors of one row: dx = rstd (g - mean(g) - xhat mean(g xhat)) with
// g = dy gamma. Lanes after a tail have dy = 0, so they add nothing to the sums.
template <class T, class Store>
HWY_INLINE void LayerNormGradientRow(const GradientRow<T>& row, const Store& store) {
  const FloatTag d;
  const FloatVector mean = hn::Set(d, row.statistics.mean);
  const FloatVector rstd = hn::Set(d, row.statistics.rstd);
  const PairOfSums sums =
      SumPairs(row.channels, [&](int64_t i, auto part, PairOfSums& to) HWY_ATTR {
        const FloatVector dy = LoadFloats(d, row.dy + i, part);
        const FloatVector xhat = hn::Mul(hn::Sub(LoadFloats(d, row.x + i, part), mean), rstd);
        const FloatVector dgamma = hn::MulAdd(dy, xhat, LoadFloats(d, row.dgamma + i, part));
        const FloatVector dbeta = hn::Add(dy, LoadFloats(d, row.dbeta + i, part));
        StoreFloats(d, dgamma, row.dgamma + i, part);
        StoreFloats(d, dbeta, row.dbeta + i, part);
        const FloatVector g = hn::Mul(dy, LoadFloats(d, row.gamma + i, part));
        to.first = hn::Add(to.first, g);
        to.second = hn::MulAdd(g, xhat, to.second);
      });
  const FloatVector share = hn::Set(d, 1.0f / static_cast<float>(row.channels));
  const FloatVector mean_g = hn::Mul(sums.first, share);
  const FloatVector mean_g_xhat = hn::Mul(sums.second, share);
  ForEachVector(d, row.channels, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector xhat = hn::Mul(hn::Sub(LoadFloats(d, row.x + i, part), mean), rstd);
    const FloatVector g =
        hn::Mul(LoadFloats(d, row.dy + i, part), LoadFloats(d, row.gamma + i, part));
    const FloatVector centered = hn::Sub(g, mean_g);
    store(i, part, hn::Mul(rstd, hn::NegMulAdd(xhat, mean_g_xhat, centered)));
  });
}

void LayerNormRows(const KernelRequest& request, const KernelArguments& arguments, const Part& rows,
                   void*) {
  using Op = ops::LayerNorm;
  const int64_t channels = request.inputs[Op::kX].shape[1];
  const auto epsilon =
      static_cast<float>(request.attributes_as<ops::LayerNormAttributes>().epsilon);
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t t = rows.begin; t < rows.end; ++t) {
      const int64_t first = t * channels;
      const RowStatistics statistics =
          NormalizeRow(arguments.input<T>(Op::kX) + first, arguments.input<float>(Op::kGamma),
                       arguments.input<float>(Op::kBeta), channels, epsilon,
                       arguments.output<T>(Op::kY) + first);
      arguments.output<float>(Op::kMean)[t] = statistics.mean;
      arguments.output<float>(Op::kRstd)[t] = statistics.rstd;
    }
  });
}

// The dropout mask of rows of activations, for any operator Op that has the inputs of a mask.
template <class Op, class Attributes>
DropoutRow MaskOfRows(const Attributes& attributes, const KernelArguments& arguments) {
  return dropout_row(attributes.rate, attributes.site, arguments.input<int32_t>(Op::kRandomKey));
}
template <class Op>
void MoveToRow(const KernelArguments& arguments, int64_t t, DropoutRow& mask) {
  mask.sample = static_cast<uint32_t>(arguments.input<int32_t>(Op::kSampleIds)[t]);
  mask.row = static_cast<uint32_t>(arguments.input<int32_t>(Op::kPositionIds)[t]);
}

// multipliers [channels], here and below, is scratch: the mask is generated in an order of its own,
// and memory is best read in order.
void DropoutRows(const KernelRequest& request, const KernelArguments& arguments, const Part& rows,
                 void* scratch) {
  using Op = ops::Dropout;
  const FloatTag d;
  const int64_t channels = request.inputs[Op::kX].shape[1];
  auto* const multipliers = static_cast<float*>(scratch);
  DropoutRow mask = MaskOfRows<Op>(request.attributes_as<ops::DropoutAttributes>(), arguments);
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t t = rows.begin; t < rows.end; ++t) {
      MoveToRow<Op>(arguments, t, mask);
      DropoutMultipliers(d, mask, channels, multipliers);
      MapFloats(d, channels, arguments.input<T>(Op::kX) + t * channels, multipliers,
                arguments.output<T>(Op::kY) + t * channels,
                [](FloatVector x, FloatVector multiplier)
                    HWY_ATTR { return hn::Mul(x, multiplier); });
    }
  });
}

// z = residual + dropout(x) for one row.
template <class T>
HWY_INLINE void AddRow(const DropoutRow& mask, int64_t channels, const T* x, const T* residual,
                       float* multipliers, T* z) {
  const FloatTag d;
  if (mask.threshold == 0) {
    MapFloats(d, channels, x, residual, z,
              [&](FloatVector a, FloatVector b) HWY_ATTR { return hn::Add(a, b); });
    return;
  }
  DropoutMultipliers(d, mask, channels, multipliers);
  ForEachVector(d, channels, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector sum =
        hn::MulAdd(LoadFloats(d, x + i, part), LoadFloats(d, multipliers + i, part),
                   LoadFloats(d, residual + i, part));
    StoreFloats(d, sum, z + i, part);
  });
}

void DropoutAddLayerNormRows(const KernelRequest& request, const KernelArguments& arguments,
                             const Part& rows, void* multipliers) {
  using Op = ops::DropoutAddLayerNorm;
  const auto& attributes = request.attributes_as<ops::DropoutAddLayerNormAttributes>();
  const int64_t channels = request.inputs[Op::kX].shape[1];
  const auto epsilon = static_cast<float>(attributes.epsilon);
  DropoutRow mask = MaskOfRows<Op>(attributes, arguments);
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t t = rows.begin; t < rows.end; ++t) {
      const int64_t first = t * channels;
      T* z = arguments.output<T>(Op::kZ) + first;
      MoveToRow<Op>(arguments, t, mask);
      AddRow(mask, channels, arguments.input<T>(Op::kX) + first,
             arguments.input<T>(Op::kResidual) + first, static_cast<float*>(multipliers), z);
      const RowStatistics statistics =
          NormalizeRow(z, arguments.input<float>(Op::kGamma), arguments.input<float>(Op::kBeta),
                       channels, epsilon, arguments.output<T>(Op::kY) + first);
      arguments.output<float>(Op::kMean)[t] = statistics.mean;
      arguments.output<float>(Op::kRstd)[t] = statistics.rstd;
    }
  });
}

// Of both gradients: dy, x or z, gamma, mean and rstd are their first inputs.
template <class T>
HWY_INLINE GradientRow<T> GradientRowAt(const KernelArguments& arguments, int64_t t,
                                        int64_t channels, float* sums) {
  using Op = ops::LayerNormGradient;
  return {
      .dy = arguments.input<T>(Op::kDy) + t * channels,
      .x = arguments.input<T>(Op::kX) + t * channels,
      .gamma = arguments.input<float>(Op::kGamma),
      .statistics = {arguments.input<float>(Op::kMean)[t], arguments.input<float>(Op::kRstd)[t]},
      .channels = channels,
      .dgamma = sums,
      .dbeta = sums + channels};
}

template <class T>
void LayerNormGradientRows(const KernelArguments& arguments, int64_t channels, const Part& rows,
                           float* sums) {
  const FloatTag d;
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    T* dx = arguments.output<T>(ops::LayerNormGradient::kDx) + t * channels;
    LayerNormGradientRow(GradientRowAt<T>(arguments, t, channels, sums),
                         [&](int64_t i, auto part, FloatVector v)
                             HWY_ATTR { StoreFloats(d, v, dx + i, part); });
  }
}

template <class T>
struct SumGradients {
  const T* dz_read;  // null: nobody else reads z
  T* dx;
  T* dresidual;
};

// dresidual = dz, dx = dz through the mask.
template <bool kIsRead, class T>
void GradientOfRow(const GradientRow<T>& row, const DropoutRow& mask, float* multipliers,
                   const SumGradients<T>& sum) {
  const FloatTag d;
  const auto whole = [&](int64_t i, auto part, FloatVector dz) HWY_ATTR {
    if constexpr (kIsRead) dz = hn::Add(dz, LoadFloats(d, sum.dz_read + i, part));
    StoreFloats(d, dz, sum.dresidual + i, part);
    return dz;
  };
  if (mask.threshold == 0) {
    LayerNormGradientRow(row, [&](int64_t i, auto part, FloatVector dz) HWY_ATTR {
      StoreFloats(d, whole(i, part, dz), sum.dx + i, part);
    });
    return;
  }
  DropoutMultipliers(d, mask, row.channels, multipliers);
  LayerNormGradientRow(row, [&](int64_t i, auto part, FloatVector dz) HWY_ATTR {
    const FloatVector factor = LoadFloats(d, multipliers + i, part);
    StoreFloats(d, hn::Mul(whole(i, part, dz), factor), sum.dx + i, part);
  });
}

template <class T>
void DropoutAddLayerNormGradientRows(const KernelRequest& request, const KernelArguments& arguments,
                                     int64_t channels, const Part& rows, float* sums,
                                     float* multipliers) {
  using Op = ops::DropoutAddLayerNormGradient;
  const T* dz_read =
      arguments.inputs.size() > Op::kDzRead ? arguments.input<T>(Op::kDzRead) : nullptr;
  const auto of_row = dz_read != nullptr ? GradientOfRow<true, T> : GradientOfRow<false, T>;
  DropoutRow mask =
      MaskOfRows<Op>(request.attributes_as<ops::DropoutAddLayerNormAttributes>(), arguments);
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const int64_t first = t * channels;
    MoveToRow<Op>(arguments, t, mask);
    of_row(GradientRowAt<T>(arguments, t, channels, sums), mask, multipliers,
           {.dz_read = dz_read != nullptr ? dz_read + first : nullptr,
            .dx = arguments.output<T>(Op::kDx) + first,
            .dresidual = arguments.output<T>(Op::kDresidual) + first});
  }
}

// sums [2, channels] of the rows; without dropout multipliers is null.
void GradientRows(const KernelRequest& request, const KernelArguments& arguments, const Part& rows,
                  float* sums, float* multipliers) {
  const graph::TensorType& dy = request.inputs[ops::LayerNormGradient::kDy];
  const int64_t channels = dy.shape[1];
  std::memset(sums, 0, static_cast<size_t>(2 * channels) * sizeof(float));
  with_storage(dy.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    if (multipliers == nullptr) return LayerNormGradientRows<T>(arguments, channels, rows, sums);
    DropoutAddLayerNormGradientRows<T>(request, arguments, channels, rows, sums, multipliers);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(LayerNormRows);
HWY_EXPORT(DropoutRows);
HWY_EXPORT(DropoutAddLayerNormRows);
HWY_EXPORT(GradientRows);

// Of layer_norm and of dropout_add_layer_norm, whose last two outputs are dgamma and dbeta.
class GradientKernel final : public Kernel {
 public:
  explicit GradientKernel(const KernelRequest& request)
      : request_(request),
        channels_(request.inputs[ops::LayerNormGradient::kDy].shape[1]),
        has_dropout_(request.op == &ops::kDropoutAddLayerNormGradient),
        sums_(request.inputs[ops::LayerNormGradient::kDy].shape[0], 2 * channels_,
              host::threads_of(request)) {}

  size_t workspace_bytes() const override {
    const size_t scratch =
        has_dropout_ ? multiplier_bytes() * std::max(host::threads_of(request_), 1) : 0;
    return sums_.workspace_bytes() + scratch;
  }

  void run(const KernelArguments& arguments, Stream&) override {
    void* workspace = arguments.workspace.as<void>();
    char* scratch = arguments.workspace.as<char>() + sums_.workspace_bytes();
    sums_.for_each_chunk(workspace, [&](const Part& rows, float* sums) {
      void* multipliers = has_dropout_ ? scratch + multiplier_bytes() * rows.thread : nullptr;
      HWY_DYNAMIC_DISPATCH(GradientRows)
      (request_, arguments, rows, sums, static_cast<float*>(multipliers));
    });
    const size_t dgamma = request_.outputs.size() - 2;
    for (size_t i = 0; i < 2; ++i) {
      sums_.finish(workspace, {.target = arguments.output<float>(dgamma + i),
                               .first = static_cast<int64_t>(i) * channels_,
                               .count = channels_,
                               .accumulates = request_.accumulates[dgamma + i]});
    }
  }

 private:
  // Of one thread.
  size_t multiplier_bytes() const {
    return whole_lines(static_cast<size_t>(channels_) * sizeof(float));
  }

  KernelRequest request_;
  int64_t channels_;
  bool has_dropout_;
  RowSums sums_;
};

constexpr KernelRow kRows[] = {
    {&ops::kDropout, "vector", refuse_other_storage,
     create_row_kernel<CLOZE_DISPATCH_PART(DropoutRows), 1>},
    {&ops::kLayerNorm, "vector", refuse_other_storage,
     create_row_kernel<CLOZE_DISPATCH_PART(LayerNormRows)>},
    {&ops::kLayerNormGradient, "vector", refuse_other_storage, create_kernel<GradientKernel>},
    {&ops::kDropoutAddLayerNorm, "vector", refuse_other_storage,
     create_row_kernel<CLOZE_DISPATCH_PART(DropoutAddLayerNormRows), 1>},
    {&ops::kDropoutAddLayerNormGradient, "vector", refuse_other_storage,
     create_kernel<GradientKernel>},
};

}  // namespace

KernelTable layer_norm_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
