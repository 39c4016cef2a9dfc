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

void TanhElements(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                  void*) {
  const FloatTag d;
  with_storage(request.outputs[ops::Tanh::kY].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    MapFloats(d, part.size(), arguments.input<T>(ops::Tanh::kX) + part.begin,
              arguments.output<T>(ops::Tanh::kY) + part.begin,
              [&](FloatVector x) HWY_ATTR { return Tanh(d, x); });
  });
}

void TanhGradientElements(const KernelRequest& request, const KernelArguments& arguments,
                          const Part& part, void*) {
  using Op = ops::TanhGradient;
  const FloatTag d;
  with_storage(request.outputs[Op::kDx].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    MapFloats(d, part.size(), arguments.input<T>(Op::kDy) + part.begin,
              arguments.input<T>(Op::kY) + part.begin, arguments.output<T>(Op::kDx) + part.begin,
              [&](FloatVector dy, FloatVector y)
                  HWY_ATTR { return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0f))); });
  });
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

}  // namespace

constinit const KernelEntry kTanhEntry{"cpu/tanh/vector", refuse_other_storage,
                                       create_element_kernel<CLOZE_DISPATCH_PART(TanhElements)>};
constinit const KernelEntry kTanhGradientEntry{
    "cpu/tanh_gradient/vector", refuse_other_storage,
    create_element_kernel<CLOZE_DISPATCH_PART(TanhGradientElements)>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
