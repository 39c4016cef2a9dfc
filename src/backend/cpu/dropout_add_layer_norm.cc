#include "ops/dropout_add_layer_norm.h"

#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/dropout_add_layer_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/dropout_mask-inl.h"
#include "backend/cpu/layer_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

// z = residual + dropout(x) for one row. multipliers [channels] is scratch: the mask comes in an
// order of its own, and memory is best read in order.
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

template <class T>
void AddAndNormalizeRows(const KernelRequest& request, const KernelArguments& arguments, Part rows,
                         float* multipliers) {
  using Op = ops::DropoutAddLayerNorm;
  const auto& attributes = request.attributes_as<ops::DropoutAddLayerNormAttributes>();
  const int64_t channels = request.inputs[Op::kX].shape[1];
  const auto epsilon = static_cast<float>(attributes.epsilon);
  DropoutRow mask =
      dropout_row(attributes.rate, attributes.site, arguments.input<int32_t>(Op::kRandomKey));
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const int64_t first = t * channels;
    T* z = arguments.output<T>(Op::kZ) + first;
    mask.sample = static_cast<uint32_t>(arguments.input<int32_t>(Op::kSampleIds)[t]);
    mask.row = static_cast<uint32_t>(arguments.input<int32_t>(Op::kPositionIds)[t]);
    AddRow(mask, channels, arguments.input<T>(Op::kX) + first,
           arguments.input<T>(Op::kResidual) + first, multipliers, z);
    const RowStatistics statistics =
        NormalizeRow(z, arguments.input<float>(Op::kGamma), arguments.input<float>(Op::kBeta),
                     channels, epsilon, arguments.output<T>(Op::kY) + first);
    arguments.output<float>(Op::kMean)[t] = statistics.mean;
    arguments.output<float>(Op::kRstd)[t] = statistics.rstd;
  }
}

void DropoutAddLayerNormRows(const KernelRequest& request, const KernelArguments& arguments,
                             const Part& rows, void* multipliers) {
  with_storage(request.inputs[ops::DropoutAddLayerNorm::kX].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR {
                 AddAndNormalizeRows<T>(request, arguments, rows, static_cast<float*>(multipliers));
               });
}

template <class T>
struct SumGradients {
  const T* dz_read;  // null: nobody else reads z
  T* dx;
  T* dresidual;
};

// dresidual = dz, dx = dz through the mask. multipliers [channels] is scratch.
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

// sums [2, channels] of the rows; multipliers [channels] is scratch.
template <class T>
void GradientOfRows(const KernelRequest& request, const KernelArguments& arguments, Part rows,
                    float* sums, float* multipliers) {
  using Op = ops::DropoutAddLayerNormGradient;
  const auto& attributes = request.attributes_as<ops::DropoutAddLayerNormAttributes>();
  const int64_t channels = request.inputs[Op::kDy].shape[1];
  const T* dz_read =
      arguments.inputs.size() > Op::kDzRead ? arguments.input<T>(Op::kDzRead) : nullptr;
  const auto of_row = dz_read != nullptr ? GradientOfRow<true, T> : GradientOfRow<false, T>;
  std::memset(sums, 0, static_cast<size_t>(2 * channels) * sizeof(float));
  DropoutRow mask =
      dropout_row(attributes.rate, attributes.site, arguments.input<int32_t>(Op::kRandomKey));
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const int64_t first = t * channels;
    const GradientRow<T> row{
        .dy = arguments.input<T>(Op::kDy) + first,
        .x = arguments.input<T>(Op::kZ) + first,
        .gamma = arguments.input<float>(Op::kGamma),
        .statistics = {arguments.input<float>(Op::kMean)[t], arguments.input<float>(Op::kRstd)[t]},
        .channels = channels,
        .dgamma = sums,
        .dbeta = sums + channels};
    mask.sample = static_cast<uint32_t>(arguments.input<int32_t>(Op::kSampleIds)[t]);
    mask.row = static_cast<uint32_t>(arguments.input<int32_t>(Op::kPositionIds)[t]);
    of_row(row, mask, multipliers,
           {.dz_read = dz_read != nullptr ? dz_read + first : nullptr,
            .dx = arguments.output<T>(Op::kDx) + first,
            .dresidual = arguments.output<T>(Op::kDresidual) + first});
  }
}

void DropoutAddLayerNormGradientRows(const KernelRequest& request, const KernelArguments& arguments,
                                     Part rows, float* sums, float* multipliers) {
  with_storage(request.inputs[ops::DropoutAddLayerNormGradient::kDy].dtype,
               [&]<class T>(Storage<T>)
                   HWY_ATTR { GradientOfRows<T>(request, arguments, rows, sums, multipliers); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(DropoutAddLayerNormRows);
HWY_EXPORT(DropoutAddLayerNormGradientRows);

class GradientKernel final : public Kernel, ops::DropoutAddLayerNormGradient {
 public:
  explicit GradientKernel(const KernelRequest& request)
      : request_(request),
        channels_(request.inputs[kDy].shape[1]),
        sums_(request.inputs[kDy].shape[0], 2 * channels_, request.num_threads) {}

  size_t workspace_bytes() const override {
    return sums_.workspace_bytes() + multiplier_bytes() * std::max(request_.num_threads, 1);
  }

  void run(const KernelArguments& arguments, Stream&) override {
    char* scratch = arguments.workspace.as<char>() + sums_.workspace_bytes();
    sums_.for_each_chunk(arguments.workspace.as<void>(), [&](const Part& rows, float* sums) {
      void* multipliers = scratch + multiplier_bytes() * rows.thread;
      HWY_DYNAMIC_DISPATCH(DropoutAddLayerNormGradientRows)
      (request_, arguments, rows, sums, static_cast<float*>(multipliers));
    });
    sums_.finish(arguments.workspace.as<void>(),
                 {arguments.output<float>(kDgamma), 0, channels_, request_.accumulates[kDgamma]});
    sums_.finish(arguments.workspace.as<void>(), {arguments.output<float>(kDbeta), channels_,
                                                  channels_, request_.accumulates[kDbeta]});
  }

 private:
  // Of one thread, in whole cache lines.
  size_t multiplier_bytes() const { return static_cast<size_t>(divide_up(channels_, 16)) * 64; }

  KernelRequest request_;
  int64_t channels_;
  RowSums sums_;
};

}  // namespace

constinit const KernelEntry kDropoutAddLayerNormEntry{
    "cpu/dropout_add_layer_norm/vector", refuse_other_storage,
    create_row_kernel<CLOZE_DISPATCH_PART(DropoutAddLayerNormRows), 1>};
constinit const KernelEntry kDropoutAddLayerNormGradientEntry{
    "cpu/dropout_add_layer_norm_gradient/vector", refuse_other_storage,
    create_kernel<GradientKernel>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
