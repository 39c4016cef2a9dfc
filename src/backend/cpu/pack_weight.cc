// pack_weight: weights laid out as packed_linear.cc reads them, panel by panel.
#include <fmt/format.h>

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/packed_linear_scheme.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "base/bfloat16.h"
#include "ops/packed_linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/pack_weight.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/product_tile-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_PACK_WEIGHT_ONCE_
#define CLOZE_BACKEND_CPU_PACK_WEIGHT_ONCE_
namespace cloze::backend::cpu {

// A panel of a weight, or of a sum of its quadrants: some of their rows, which are the columns of
// the product.
struct PanelSum {
  const float* weight = nullptr;
  int64_t K = 0;
  int64_t part_rows = 0, depth = 0;  // of a quadrant
  ops::Quadrants factors{};          // [half of the rows, half of the depth]
  int64_t row = 0, rows = 0;
  float* scratch = nullptr;  // [2, columns of a panel, depth]
  void* packed = nullptr;
  DType packed_dtype = DType::kF32;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// Rows of a sum, and how far they lie apart: in the weight, if there is nothing to add.
struct SummedRows {
  const float* rows = nullptr;
  int64_t stride = 0;
};

SummedRows SumQuadrants(const PanelSum& t) {
  const FloatTag d;
  const QuadrantTerms terms = terms_of(t.factors);
  const auto start = [&](int quadrant) {
    return t.weight + (quadrant / 2 * t.part_rows + t.row) * t.K + quadrant % 2 * t.depth;
  };
  const float* first = start(terms.quadrant[0]);
  if (terms.count == 1) return {first, t.K};  // the factor is 1
  const float* second = start(terms.quadrant[1]);
  const FloatVector first_factor = hn::Set(d, terms.factor[0]);
  const FloatVector second_factor = hn::Set(d, terms.factor[1]);
  for (int64_t i = 0; i < t.rows; ++i, first += t.K, second += t.K) {
    ForEachVector(d, t.depth, [&](int64_t k, auto part) HWY_ATTR {
      const FloatVector sum = hn::Mul(first_factor, LoadFloats(d, first + k, part));
      StoreFloats(d, hn::MulAdd(second_factor, LoadFloats(d, second + k, part), sum),
                  t.scratch + i * t.depth + k, part);
    });
  }
  return {t.scratch, t.depth};
}

void pack_panel(const PanelSum& t) {
  const FloatTag d;
  const SummedRows sum = SumQuadrants(t);
  if (t.packed_dtype == DType::kF32) {
    float* panel = static_cast<float*>(t.packed);
    return PackTransposedPanel(sum.rows, sum.stride, t.depth, t.rows, panel);
  }
  float* panel = t.scratch + t.rows * t.depth;
  PackTransposedPanel(sum.rows, sum.stride, t.depth, t.rows, panel);
  MapFloats(d, kTileColumns * t.depth, panel, static_cast<bfloat16*>(t.packed),
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
    return static_cast<size_t>(scratch_floats()) * sizeof(float) * num_workers(work_);
  }

  void run(const KernelArguments& arguments, Stream&) override {
    const Shape& weight = request_.inputs[0].shape;
    PanelSum all{arguments.input<float>(0), weight[1], part_columns_, depth_};
    all.packed_dtype = request_.outputs[0].dtype;
    for_each_part(work_, [&](const Part& part) {
      PanelSum sum = all;
      sum.scratch = arguments.workspace.as<float>() + scratch_floats() * part.thread;
      for (int64_t item = part.begin; item < part.end; ++item) {
        const ops::Quadrants& block = ops::kStrassenBlocks[item / panels_];
        // Columns of the product are rows of the weight.
        sum.factors = is_strassen_ ? ops::Quadrants{block[0], block[2], block[1], block[3]}
                                   : ops::Quadrants{1, 0, 0, 0};
        sum.row = item % panels_ * columns_;
        sum.rows = std::min(columns_, part_columns_ - sum.row);
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
