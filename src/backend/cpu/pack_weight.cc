// pack_weight: weights laid out as packed_linear.cc reads them, panel by panel.
#include <fmt/format.h>

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"
#include "ops/packed_linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/pack_weight.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_PACK_WEIGHT_ONCE_
#define CLOZE_BACKEND_CPU_PACK_WEIGHT_ONCE_
namespace cloze::backend::cpu {

// Some rows of a weight, which are the columns of the product, as a panel.
struct PanelPacking {
  const float* weight = nullptr;  // the first row
  int64_t rows = 0, K = 0;
  void* panel = nullptr;
  DType dtype = DType::kF32;
  float* scratch = nullptr;  // [K, columns of a panel], for a panel that is not f32
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

void pack_panel(const PanelPacking& t) {
  if (t.dtype == DType::kF32) {
    return PackTransposedPanel(t.weight, t.K, t.K, t.rows, static_cast<float*>(t.panel));
  }
  PackTransposedPanel(t.weight, t.K, t.K, t.rows, t.scratch);
  with_storage(t.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    CopyFloats(t.scratch, kTileColumns * t.K, static_cast<T*>(t.panel));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_panel);

ops::WeightLayout panel_layout() { return {.columns = register_tile().columns}; }

std::optional<std::string> refuse_other_panels(const ops::WeightLayout& layout) {
  const ops::WeightLayout here = panel_layout();
  if (layout == here) return std::nullopt;
  if (layout == kPairLayout) return "the weight is packed in pairs";
  return fmt::format("panels of {} columns, not of {}", layout.columns, here.columns);
}

namespace {

class PackWeight final : public Kernel, ops::PackWeight {
 public:
  explicit PackWeight(const KernelRequest& request)
      : N_(request.inputs[kWeight].shape[0]),
        K_(request.inputs[kWeight].shape[1]),
        columns_(request.outputs[kPacked].shape[2]),
        dtype_(request.outputs[kPacked].dtype),
        work_{.items = request.outputs[kPacked].shape[0],
              .num_threads = host::threads_of(request)} {}

  size_t workspace_bytes() const override {
    return static_cast<size_t>(columns_ * K_) * sizeof(float) * num_workers(work_);
  }

  void run(const KernelArguments& arguments, Stream&) override {
    for_each_part(work_, [&](const Part& part) {
      for (int64_t panel = part.begin; panel < part.end; ++panel) {
        const int64_t row = panel * columns_;
        HWY_DYNAMIC_DISPATCH(pack_panel)
        ({.weight = arguments.input<float>(kWeight) + row * K_,
          .rows = std::min(columns_, N_ - row),
          .K = K_,
          .panel = arguments.output<char>(kPacked) + row * K_ * bytes_of(dtype_),
          .dtype = dtype_,
          .scratch = arguments.workspace.as<float>() + part.thread * columns_ * K_});
      }
    });
  }

 private:
  int64_t N_, K_, columns_;
  DType dtype_;
  Work work_;
};

constexpr KernelRow kRows[] = {
    {&ops::kPackWeight, "panels",
     [](const KernelRequest& request) {
       return refuse_other_panels(request.attributes_as<ops::PackWeightAttributes>().layout);
     },
     create_kernel<PackWeight>},
};

}  // namespace

KernelTable pack_weight_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
