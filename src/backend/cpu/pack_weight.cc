// pack_weight: weights laid out as packed_linear.cc reads them, panel by panel.
#include <fmt/format.h>

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "base/bfloat16.h"
#include "ops/packed_linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/pack_weight.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/part_sum-inl.h"
#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_PACK_WEIGHT_ONCE_
#define CLOZE_BACKEND_CPU_PACK_WEIGHT_ONCE_
namespace cloze::backend::cpu {

// A panel of a weight.
struct PanelSum {
  PartSum rows;
  void* packed = nullptr;
  DType packed_dtype = DType::kF32;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

void pack_panel(const PanelSum& t) {
  const FloatTag d;
  const int64_t depth = t.rows.depth;
  const SummedRows sum = SumParts(t.rows, 0, depth);
  if (t.packed_dtype == DType::kF32) {
    float* panel = static_cast<float*>(t.packed);
    return PackTransposedPanel(sum.rows, sum.stride, depth, t.rows.rows, panel);
  }
  float* panel = t.rows.scratch + t.rows.rows * depth;
  PackTransposedPanel(sum.rows, sum.stride, depth, t.rows.rows, panel);
  MapFloats(d, kTileColumns * depth, panel, static_cast<bfloat16*>(t.packed),
            [](FloatVector v) HWY_ATTR { return v; });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(pack_panel);

int64_t weight_panel_columns() { return register_tile().columns; }

std::optional<std::string> refuse_other_panels(const Shape& packed) {
  if (ops::layout_of(packed) == ops::WeightLayout::kPairs) return "the weight is packed in pairs";
  const int64_t columns = packed[-1];
  if (columns == weight_panel_columns()) return std::nullopt;
  return fmt::format("panels of {} columns, not of {}", columns, weight_panel_columns());
}

namespace {

class PackWeight final : public Kernel {
 public:
  explicit PackWeight(const KernelRequest& request)
      : request_(request),
        is_strassen_(ops::layout_of(request.outputs[0].shape) == ops::WeightLayout::kStrassen) {
    const Shape& packed = request.outputs[0].shape;
    panels_ = packed[-3];
    depth_ = packed[-2];
    columns_ = packed[-1];
    part_columns_ = request.inputs[0].shape[0] / (is_strassen_ ? 2 : 1);
    work_ = {.items = packed.elements() / (depth_ * columns_), .num_threads = request.num_threads};
  }

  size_t workspace_bytes() const override {
    return static_cast<size_t>(scratch_floats()) * sizeof(float) * num_parts(work_);
  }

  void run(const KernelArguments& arguments) override {
    const Shape& weight = request_.inputs[0].shape;
    PanelSum all{{arguments.input<float>(0), weight[0], weight[1], part_columns_, depth_}};
    all.packed_dtype = request_.outputs[0].dtype;
    for_each_part(work_, [&](const Part& part) {
      PanelSum sum = all;
      sum.rows.scratch = static_cast<float*>(arguments.workspace) + scratch_floats() * part.index;
      for (int64_t item = part.begin; item < part.end; ++item) {
        const ops::Quadrants& block = ops::kStrassenBlocks[item / panels_];
        // Columns of the product are rows of the weight.
        sum.rows.factors = is_strassen_ ? ops::Quadrants{block[0], block[2], block[1], block[3]}
                                        : ops::Quadrants{1, 0, 0, 0};
        sum.rows.row = item % panels_ * columns_;
        sum.rows.rows = std::min(columns_, part_columns_ - sum.rows.row);
        sum.packed =
            arguments.output<char>(0) + item * depth_ * columns_ * bytes_of(all.packed_dtype);
        HWY_DYNAMIC_DISPATCH(pack_panel)(sum);
      }
    });
  }

 private:
  int64_t scratch_floats() const { return 2 * columns_ * depth_; }

  KernelRequest request_;
  bool is_strassen_;
  int64_t panels_ = 0, depth_ = 0, columns_ = 0, part_columns_ = 0;
  Work work_;
};

}  // namespace

constinit const KernelEntry kPackWeightEntry{
    "cpu/pack_weight/panels",
    [](const KernelRequest& request) { return refuse_other_panels(request.outputs[0].shape); },
    create_kernel<PackWeight>};

}  // namespace cloze::backend::cpu
#endif
