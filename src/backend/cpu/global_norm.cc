// global_norm and gradient_scale. The inputs are cut into blocks of a fixed size; each block's sum
// of squares is a double in the workspace, and these are added in order: the norm is the same for
// any number of threads.
#include <cmath>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "ops/optimizer_update.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/global_norm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

double SumOfSquares(const float* x, int64_t n) {
  const FloatTag d;
  SquareSum sum;
  ForEachVector(d, n, [&](int64_t i, auto part) HWY_ATTR { sum.Add(LoadFloats(d, x + i, part)); });
  return sum.Total();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(SumOfSquares);

class GlobalNormKernel final : public Kernel, ops::GlobalNorm {
 public:
  explicit GlobalNormKernel(const KernelRequest& request)
      : num_threads_(host::threads_of(request)) {
    for (size_t input = 0; input < request.inputs.size(); ++input) {
      const int64_t elements = request.inputs[input].shape.elements();
      for (int64_t begin = 0; begin < elements; begin += kNormBlockElements) {
        blocks_.push_back({input, begin, std::min(kNormBlockElements, elements - begin)});
      }
    }
  }

  size_t workspace_bytes() const override { return blocks_.size() * sizeof(double); }

  void run(const KernelArguments& arguments, Stream&) override {
    double* sums = arguments.workspace.as<double>();
    const auto num_blocks = static_cast<int64_t>(blocks_.size());
    for_each_item(num_blocks, num_threads_, [&](int64_t i, int) {
      const Block& block = blocks_[static_cast<size_t>(i)];
      const float* x = arguments.input<float>(block.input) + block.begin;
      sums[i] = HWY_DYNAMIC_DISPATCH(SumOfSquares)(x, block.elements);
    });
    double total = 0.0;
    for (int64_t i = 0; i < num_blocks; ++i) total += sums[i];
    *arguments.output<float>(kNorm) = static_cast<float>(std::sqrt(total));
  }

 private:
  struct Block {
    size_t input = 0;
    int64_t begin = 0;
    int64_t elements = 0;
  };

  int num_threads_;
  std::vector<Block> blocks_;
};

class GradientScaleKernel final : public Kernel, ops::GradientScale {
 public:
  explicit GradientScaleKernel(const KernelRequest& request)
      : max_norm_(request.attributes_as<ops::GradientScaleAttributes>().max_norm),
        num_inputs_(request.inputs.size()) {}

  void run(const KernelArguments& arguments, Stream&) override {
    const double loss_scale = *arguments.input<float>(kLossScale);
    const double norm = *arguments.input<float>(kNorm) / loss_scale;
    double scale = 1.0 / loss_scale;
    if (max_norm_ > 0.0) scale *= max_norm_ / std::max(norm, max_norm_);
    for (size_t i = 0; i < num_inputs_; ++i) {
      if (!std::isfinite(*arguments.input<float>(i))) scale = 0.0;
    }
    *arguments.output<float>(kScale) = static_cast<float>(scale);
  }

 private:
  double max_norm_;
  size_t num_inputs_;
};

constexpr KernelRow kRows[] = {
    {&ops::kGlobalNorm, "vector", refuse_unless_f32, create_kernel<GlobalNormKernel>},
    {&ops::kGradientScale, "scalar", refuse_unless_f32, create_kernel<GradientScaleKernel>},
};

}  // namespace

KernelTable global_norm_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
