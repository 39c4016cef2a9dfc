#include "ops/elementwise.h"

#include <fmt/format.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"

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
  MapFloats(FloatTag(), part.size(), arguments.input<T>(0) + part.begin,
            arguments.input<T>(1) + part.begin, arguments.output<T>(0) + part.begin,
            [](FloatVector a, FloatVector b) HWY_ATTR { return hn::Add(a, b); });
}

template <class From, class To>
void CopyPart(const KernelArguments& arguments, Part part) {
  MapFloats(FloatTag(), part.size(), arguments.input<From>(0) + part.begin,
            arguments.output<To>(0) + part.begin, [](FloatVector x) HWY_ATTR { return x; });
}

template <class T>
void AccumulatePart(const KernelArguments& arguments, Part part) {
  T* y = arguments.output<T>(0) + part.begin;
  const FloatTag d;
  const T* x = arguments.input<T>(0) + part.begin;
  ForEachVector(d, part.size(), [&](int64_t i, auto lanes) HWY_ATTR {
    const FloatVector sum = hn::Add(LoadFloats(d, y + i, lanes), LoadFloats(d, x + i, lanes));
    StoreFloats(d, sum, y + i, lanes);
  });
}

void AddElements(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  if (request.inputs[0].dtype == DType::kBF16) {
    AddPart<bfloat16>(arguments, part);
  } else {
    AddPart<float>(arguments, part);
  }
}

void CastElements(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  const bool from_half = request.inputs[0].dtype == DType::kBF16;
  const bool to_half = request.outputs[0].dtype == DType::kBF16;
  if (from_half && to_half) CopyPart<bfloat16, bfloat16>(arguments, part);
  if (from_half && !to_half) CopyPart<bfloat16, float>(arguments, part);
  if (!from_half && to_half) CopyPart<float, bfloat16>(arguments, part);
  if (!from_half && !to_half) CopyPart<float, float>(arguments, part);
}

void AccumulateElements(const KernelRequest& request, const KernelArguments& arguments, Part part) {
  const bool is_half = request.inputs[0].dtype == DType::kBF16;
  if (!request.accumulates[0]) {
    CastElements(request, arguments, part);
  } else if (is_half) {
    AccumulatePart<bfloat16>(arguments, part);
  } else {
    AccumulatePart<float>(arguments, part);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(AddElements);
HWY_EXPORT(CastElements);
HWY_EXPORT(AccumulateElements);

std::unique_ptr<Kernel> create_part_kernel(const KernelRequest& request, RunPart run_part) {
  const int64_t elements = request.inputs[0].shape.elements();
  return std::make_unique<PartKernel>(request, element_work(request, elements), run_part);
}

std::unique_ptr<Kernel> create_add(const KernelRequest& request) {
  return create_part_kernel(request, [](const KernelRequest& request,
                                        const KernelArguments& arguments, const Part& part, void*) {
    HWY_DYNAMIC_DISPATCH(AddElements)(request, arguments, part);
  });
}

std::unique_ptr<Kernel> create_cast(const KernelRequest& request) {
  return create_part_kernel(request, [](const KernelRequest& request,
                                        const KernelArguments& arguments, const Part& part, void*) {
    HWY_DYNAMIC_DISPATCH(CastElements)(request, arguments, part);
  });
}

std::unique_ptr<Kernel> create_accumulate(const KernelRequest& request) {
  return create_part_kernel(request, [](const KernelRequest& request,
                                        const KernelArguments& arguments, const Part& part, void*) {
    HWY_DYNAMIC_DISPATCH(AccumulateElements)(request, arguments, part);
  });
}

std::optional<std::string> refuse_cast(const KernelRequest& request) {
  const DType to = request.outputs[0].dtype;
  if (to != DType::kF32 && to != DType::kBF16) {
    return fmt::format("{} is not f32 or bf16", name_of(to));
  }
  return refuse_unless_f32_or_bf16(request);
}

}  // namespace

constinit const KernelEntry kAddEntry{"cpu/add/vector", refuse_unless_f32_or_bf16, create_add};
constinit const KernelEntry kCastEntry{"cpu/cast/vector", refuse_cast, create_cast};
constinit const KernelEntry kAccumulateEntry{"cpu/accumulate/vector", refuse_unless_f32_or_bf16,
                                             create_accumulate};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
