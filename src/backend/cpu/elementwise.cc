#include "ops/elementwise.h"

#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/elementwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

void AddElements(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                 void*) {
  with_storage(request.outputs[ops::Add::kSum].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    MapFloats(FloatTag(), part.size(), arguments.input<T>(ops::Add::kA) + part.begin,
              arguments.input<T>(ops::Add::kB) + part.begin,
              arguments.output<T>(ops::Add::kSum) + part.begin,
              [](FloatVector a, FloatVector b) HWY_ATTR { return hn::Add(a, b); });
  });
}

void AccumulateElements(const KernelRequest& request, const KernelArguments& arguments,
                        const Part& part, void*) {
  using Op = ops::Accumulate;
  with_storage(request.outputs[Op::kY].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    const T* x = arguments.input<T>(Op::kX) + part.begin;
    T* y = arguments.output<T>(Op::kY) + part.begin;
    if (!request.accumulates[Op::kY]) {
      std::copy_n(x, part.size(), y);
      return;
    }
    MapFloats(FloatTag(), part.size(), y, x, y,
              [](FloatVector a, FloatVector b) HWY_ATTR { return hn::Add(a, b); });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(AddElements);
HWY_EXPORT(AccumulateElements);

}  // namespace

constinit const KernelEntry kAddEntry{"cpu/add/vector", refuse_other_storage,
                                      create_element_kernel<CLOZE_DISPATCH_PART(AddElements)>};
constinit const KernelEntry kAccumulateEntry{
    "cpu/accumulate/vector", refuse_other_storage,
    create_element_kernel<CLOZE_DISPATCH_PART(AccumulateElements)>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
