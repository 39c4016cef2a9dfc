// Operators that compute each output element from the input elements at the same place.
#include "backend/cpu/elementwise.h"

#include <algorithm>
#include <type_traits>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"
#include "ops/elementwise.h"
#include "ops/gated_linear_unit.h"
#include "ops/swish.h"
#include "ops/tanh.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/elementwise.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

// y = f(x) for a part of the elements, or y = f(a, b), by how many f takes. Every operator here has
// y as its only output, and as inputs those of f, in their order.
template <class Function>
HWY_INLINE void MapPart(const KernelRequest& request, const KernelArguments& arguments,
                        const Part& part, const Function& function) {
  with_storage(request.outputs[0].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    const T* a = arguments.input<T>(0) + part.begin;
    T* y = arguments.output<T>(0) + part.begin;
    if constexpr (std::is_invocable_v<Function, FloatVector>) {
      MapFloats(FloatTag(), part.size(), a, y, function);
    } else {
      MapFloats(FloatTag(), part.size(), a, arguments.input<T>(1) + part.begin, y, function);
    }
  });
}

void MapElements(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                 void*) {
  using V = FloatVector;
  const FloatTag d;
  const auto map = [&](const auto& function)
                       HWY_ATTR { MapPart(request, arguments, part, function); };
  const graph::OpDefinition* op = request.op;
  if (op == &ops::kAdd) return map([](V a, V b) HWY_ATTR { return hn::Add(a, b); });
  if (op == &ops::kTanh) return map([d](V x) HWY_ATTR { return Tanh(d, x); });
  if (op == &ops::kTanhGradient) {
    return map([d](V dy, V y)
                   HWY_ATTR { return hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0f))); });
  }
  if (op == &ops::kSwish) return map([d](V x) HWY_ATTR { return Gate(d, x, x); });
  if (op == &ops::kSwishGradient) {
    // With l = logistic(x): l + x l (1 - l).
    return map([d](V dy, V x) HWY_ATTR {
      const auto logistic = LogisticOf(d, x);
      return hn::Mul(dy, hn::MulAdd(x, logistic.slope, logistic.value));
    });
  }
  const ops::GeluForm form = request.attributes_as<ops::GeluAttributes>().form;
  if (op == &ops::kGelu) return WithActivation(d, form, map);
  if (form == ops::GeluForm::kErf) {
    return map([d](V dy, V x) HWY_ATTR { return hn::Mul(dy, GeluErfDerivative(d, x)); });
  }
  map([d](V dy, V x) HWY_ATTR { return hn::Mul(dy, GeluTanhDerivative(d, x)); });
}

void AccumulateElements(const KernelRequest& request, const KernelArguments& arguments,
                        const Part& part, void*) {
  using Op = ops::Accumulate;
  with_storage(request.outputs[Op::kY].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    const T* x = arguments.input<T>(Op::kX) + part.begin;
    T* y = arguments.output<T>(Op::kY) + part.begin;
    if (request.accumulates[Op::kY]) return AddFloats(x, part.size(), y);
    std::copy_n(x, part.size(), y);
  });
}

void GeluElements(const GeluRun& run, const Part& part, const void* x, void* y) {
  const FloatTag d;
  with_storage(run.dtype, [&]<class X>(Storage<X>) HWY_ATTR {
    with_storage(run.y_dtype, [&]<class Y>(Storage<Y>) HWY_ATTR {
      WithActivation(d, run.form, [&](const auto& activation) HWY_ATTR {
        MapFloats(d, part.size(), static_cast<const X*>(x) + part.begin,
                  static_cast<Y*>(y) + part.begin, activation);
      });
    });
  });
}

void GateRows(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
              void*) {
  using Op = ops::GatedLinearUnit;
  const FloatTag d;
  const graph::TensorType& type = request.outputs[Op::kY];
  const int64_t N = type.shape[1];
  with_storage(type.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t m = part.begin; m < part.end; ++m) {
      const T* gates = arguments.input<T>(Op::kX) + m * 2 * N;
      MapFloats(d, N, gates, gates + N, arguments.output<T>(Op::kY) + m * N,
                [&](FloatVector gate, FloatVector value) HWY_ATTR { return Gate(d, value, gate); });
    }
  });
}

void GateGradientRows(const KernelRequest& request, const KernelArguments& arguments,
                      const Part& part, void*) {
  using Op = ops::GatedLinearUnitGradient;
  const FloatTag d;
  const graph::TensorType& type = request.inputs[Op::kDy];
  const int64_t N = type.shape[1];
  with_storage(type.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t m = part.begin; m < part.end; ++m) {
      const T* dy = arguments.input<T>(Op::kDy) + m * N;
      const T* x = arguments.input<T>(Op::kX) + m * 2 * N;
      T* dx = arguments.output<T>(Op::kDx) + m * 2 * N;
      ForEachVector(d, N, [&](int64_t i, auto lanes) HWY_ATTR {
        const FloatVector g = LoadFloats(d, dy + i, lanes);
        const auto logistic = LogisticOf(d, LoadFloats(d, x + i, lanes));
        const FloatVector dgate = hn::Mul(LoadFloats(d, x + N + i, lanes), logistic.slope);
        StoreFloats(d, hn::Mul(g, dgate), dx + i, lanes);
        StoreFloats(d, hn::Mul(g, logistic.value), dx + N + i, lanes);
      });
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(MapElements);
HWY_EXPORT(AccumulateElements);
HWY_EXPORT(GeluElements);
HWY_EXPORT(GateRows);
HWY_EXPORT(GateGradientRows);

constexpr auto create_map = create_element_kernel<CLOZE_DISPATCH_PART(MapElements)>;

constexpr KernelRow kRows[] = {
    {&ops::kAdd, "vector", refuse_other_storage, create_map},
    {&ops::kAccumulate, "vector", refuse_other_storage,
     create_element_kernel<CLOZE_DISPATCH_PART(AccumulateElements)>},
    {&ops::kGelu, "vector", refuse_other_storage, create_map},
    {&ops::kGeluGradient, "vector", refuse_other_storage, create_map},
    {&ops::kTanh, "vector", refuse_other_storage, create_map},
    {&ops::kTanhGradient, "vector", refuse_other_storage, create_map},
    {&ops::kSwish, "vector", refuse_other_storage, create_map},
    {&ops::kSwishGradient, "vector", refuse_other_storage, create_map},
    {&ops::kGatedLinearUnit, "vector", refuse_other_storage,
     create_row_kernel<CLOZE_DISPATCH_PART(GateRows)>},
    {&ops::kGatedLinearUnitGradient, "vector", refuse_other_storage,
     create_row_kernel<CLOZE_DISPATCH_PART(GateGradientRows)>},
};

}  // namespace

void gelu_of_run(const GeluRun& run, const void* x, void* y) {
  HWY_DYNAMIC_DISPATCH(GeluElements)(run, {0, run.count}, x, y);
}

KernelTable elementwise_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
