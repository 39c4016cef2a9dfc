#include "ops/tanh.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/tanh.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void TanhPart(const KernelArguments& arguments, Part part) {
  const FloatTag d;
  MapFloats(d, part.size(), arguments.input<T>(ops::Tanh::kX) + part.begin,
            arguments.output<T>(ops::Tanh::kY) + part.begin,
            [&](FloatVector x) HWY_ATTR { return Tanh(d, x); });
}

template <class T>
void TanhGradientPart(const KernelArguments& arguments, Part part) {
  using Op = ops::TanhGradient;
  const FloatTag d;
  MapFloats(d, part.size(), arguments.input<T>(Op::kDy) + part.begin,
            arguments.input<T>(Op::kY) + part.begin, arguments.output<T>(Op::kDx) + part.begin,
            [&](FloatVector dy, FloatVector y)
                HWY_ATTR { return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0f))); });
}

void TanhElements(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  with_storage(request.inputs[ops::Tanh::kX].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { TanhPart<T>(arguments, part); });
}

void TanhGradientElements(const KernelRequest& request, const KernelArguments& arguments,
                          Part part) {
  with_storage(request.inputs[ops::TanhGradient::kDy].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { TanhGradientPart<T>(arguments, part); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(TanhElements);
HWY_EXPORT(TanhGradientElements);

std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<PartKernel>(
      request, element_work(request, request.inputs[ops::Tanh::kX].shape.elements()),
      [](const KernelRequest& request, const KernelArguments& arguments, const Part& part, void*) {
        HWY_DYNAMIC_DISPATCH(TanhElements)(request, arguments, part);
      });
}

std::unique_ptr<Kernel> create_gradient(const KernelRequest& request) {
  return std::make_unique<PartKernel>(
      request, element_work(request, request.inputs[ops::TanhGradient::kDy].shape.elements()),
      [](const KernelRequest& request, const KernelArguments& arguments, const Part& part, void*) {
        HWY_DYNAMIC_DISPATCH(TanhGradientElements)(request, arguments, part);
      });
}

}  // namespace

constinit const KernelEntry kTanhEntry{"cpu/tanh/vector", refuse_unless_f32_or_bf16, create};
constinit const KernelEntry kTanhGradientEntry{"cpu/tanh_gradient/vector",
                                               refuse_unless_f32_or_bf16, create_gradient};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
