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

template <class T>
void AddPart(const KernelArguments& arguments, Part part) {
  MapFloats(FloatTag(), part.size(), arguments.input<T>(ops::Add::kA) + part.begin,
            arguments.input<T>(ops::Add::kB) + part.begin,
            arguments.output<T>(ops::Add::kSum) + part.begin,
            [](FloatVector a, FloatVector b) HWY_ATTR { return hn::Add(a, b); });
}

template <class T>
void CopyPart(const KernelArguments& arguments, Part part) {
  std::copy_n(arguments.input<T>(ops::Accumulate::kX) + part.begin, part.size(),
              arguments.output<T>(ops::Accumulate::kY) + part.begin);
}

template <class T>
void AccumulatePart(const KernelArguments& arguments, Part part) {
  T* y = arguments.output<T>(ops::Accumulate::kY) + part.begin;
  const FloatTag d;
  const T* x = arguments.input<T>(ops::Accumulate::kX) + part.begin;
  ForEachVector(d, part.size(), [&](int64_t i, auto lanes) HWY_ATTR {
    const FloatVector sum = hn::Add(LoadFloats(d, y + i, lanes), LoadFloats(d, x + i, lanes));
    StoreFloats(d, sum, y + i, lanes);
  });
}

void AddElements(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  with_storage(request.inputs[ops::Add::kA].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { AddPart<T>(arguments, part); });
}

template <class T>
void AccumulateAs(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  if (request.accumulates[ops::Accumulate::kY]) return AccumulatePart<T>(arguments, part);
  CopyPart<T>(arguments, part);
}

void AccumulateElements(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  with_storage(request.inputs[ops::Accumulate::kX].dtype,
               [&]<class T>(Storage<T>) HWY_ATTR { AccumulateAs<T>(request, arguments, part); });
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

std::unique_ptr<Kernel> create_part_kernel(const KernelRequest& request, RunPart run_part) {
  const int64_t elements = request.outputs[ops::Add::kSum].shape.elements();
  return std::make_unique<PartKernel>(request, element_work(request, elements), run_part);
}

std::unique_ptr<Kernel> create_add(const KernelRequest& request) {
  return create_part_kernel(request, [](const KernelRequest& request,
                                        const KernelArguments& arguments, const Part& part, void*) {
    HWY_DYNAMIC_DISPATCH(AddElements)(request, arguments, part);
  });
}

std::unique_ptr<Kernel> create_accumulate(const KernelRequest& request) {
  return create_part_kernel(request, [](const KernelRequest& request,
                                        const KernelArguments& arguments, const Part& part, void*) {
    HWY_DYNAMIC_DISPATCH(AccumulateElements)(request, arguments, part);
  });
}

}  // namespace

constinit const KernelEntry kAddEntry{"cpu/add/vector", refuse_unless_f32_or_bf16, create_add};
constinit const KernelEntry kAccumulateEntry{"cpu/accumulate/vector", refuse_unless_f32_or_bf16,
                                             create_accumulate};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
