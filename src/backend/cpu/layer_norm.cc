#include "ops/layer_norm.h"

#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/layer_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/layer_norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void NormalizeRows(const KernelRequest& request, const KernelArguments& arguments, Part rows) {
  using Op = ops::LayerNorm;
  const int64_t channels = request.inputs[Op::kX].shape[1];
  const auto epsilon =
      static_cast<float>(request.attributes_as<ops::LayerNormAttributes>().epsilon);
  const T* x = arguments.input<T>(Op::kX);
  const float* gamma = arguments.input<float>(Op::kGamma);
  const float* beta = arguments.input<float>(Op::kBeta);
  T* y = arguments.output<T>(Op::kY);
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const RowStatistics statistics =
        NormalizeRow(x + t * channels, gamma, beta, channels, epsilon, y + t * channels);
    arguments.output<float>(Op::kMean)[t] = statistics.mean;
    arguments.output<float>(Op::kRstd)[t] = statistics.rstd;
  }
}

template <class T>
void GradientOfRows(const KernelRequest& request, const KernelArguments& arguments, Part rows,
                    float* sums) {
  using Op = ops::LayerNormGradient;
  const FloatTag d;
  const int64_t channels = request.inputs[Op::kDy].shape[1];
  std::memset(sums, 0, static_cast<size_t>(2 * channels) * sizeof(float));
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const GradientRow<T> row{
        .dy = arguments.input<T>(Op::kDy) + t * channels,
        .x = arguments.input<T>(Op::kX) + t * channels,
        .gamma = arguments.input<float>(Op::kGamma),
        .statistics = {arguments.input<float>(Op::kMean)[t], arguments.input<float>(Op::kRstd)[t]},
        .channels = channels,
        .dgamma = sums,
        .dbeta = sums + channels};
    T* dx = arguments.output<T>(Op::kDx) + t * channels;
    LayerNormGradientRow(row, [&](int64_t i, auto part, FloatVector v)
                                  HWY_ATTR { StoreFloats(d, v, dx + i, part); });
  }
}

void LayerNormRows(const KernelRequest& request, const KernelArguments& arguments, const Part& rows,
                   void*) {
  with_storage(request.inputs[ops::LayerNorm::kX].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { NormalizeRows<T>(request, arguments, rows); });
}

void LayerNormGradientRows(const KernelRequest& request, const KernelArguments& arguments,
                           Part rows, float* sums) {
  with_storage(request.inputs[ops::LayerNormGradient::kDy].dtype,
               [&]<class T>(Storage<T>)
                   HWY_ATTR { GradientOfRows<T>(request, arguments, rows, sums); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(LayerNormRows);
HWY_EXPORT(LayerNormGradientRows);

class GradientKernel final : public Kernel, ops::LayerNormGradient {
 public:
  explicit GradientKernel(const KernelRequest& request)
      : request_(request),
        channels_(request.inputs[kDy].shape[1]),
        sums_(request.inputs[kDy].shape[0], 2 * channels_, request.num_threads) {}

  size_t workspace_bytes() const override { return sums_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    sums_.for_each_chunk(arguments.workspace.as<void>(), [&](const Part& rows, float* sums) {
      HWY_DYNAMIC_DISPATCH(LayerNormGradientRows)(request_, arguments, rows, sums);
    });
    sums_.finish(arguments.workspace.as<void>(),
                 {arguments.output<float>(kDgamma), 0, channels_, request_.accumulates[kDgamma]});
    sums_.finish(arguments.workspace.as<void>(), {arguments.output<float>(kDbeta), channels_,
                                                  channels_, request_.accumulates[kDbeta]});
  }

 private:
  KernelRequest request_;
  int64_t channels_;
  RowSums sums_;
};

}  // namespace

constinit const KernelEntry kLayerNormEntry{"cpu/layer_norm/vector", refuse_other_storage,
                                            create_row_kernel<CLOZE_DISPATCH_PART(LayerNormRows)>};
constinit const KernelEntry kLayerNormGradientEntry{
    "cpu/layer_norm_gradient/vector", refuse_other_storage, create_kernel<GradientKernel>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
