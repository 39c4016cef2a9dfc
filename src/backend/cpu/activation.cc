#include "backend/cpu/activation.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"
#include "ops/gated_linear_unit.h"
#include "ops/swish.h"
#include "ops/tanh.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/activation.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class X, class Y>
void Forward(const GeluRun& run, const X* x, Y* y) {
  const FloatTag d;
  WithActivation(d, run.form, [&](const auto& activation) HWY_ATTR {
    MapFloats(d, run.count, x, y, activation);
  });
}

template <class T>
void Backward(const GeluRun& run, const T* dy, const T* x, T* dx) {
  const FloatTag d;
  if (run.form == ops::GeluForm::kErf) {
    MapFloats(d, run.count, dy, x, dx, [&](FloatVector g, FloatVector v) HWY_ATTR {
      return hn::Mul(g, GeluErfDerivative(d, v));
    });
  } else {
    MapFloats(d, run.count, dy, x, dx, [&](FloatVector g, FloatVector v) HWY_ATTR {
      return hn::Mul(g, GeluTanhDerivative(d, v));
    });
  }
}

void GeluForward(const GeluRun& run, const void* x, void* y) {
  with_storage(run.dtype, [&]<class X>(Storage<X>) HWY_ATTR {
    with_storage(run.y_dtype, [&]<class Y>(Storage<Y>) HWY_ATTR {
      Forward(run, static_cast<const X*>(x), static_cast<Y*>(y));
    });
  });
}

void GeluBackward(const GeluRun& run, const void* dy, const void* x, void* dx) {
  with_storage(run.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    Backward(run, static_cast<const T*>(dy), static_cast<const T*>(x), static_cast<T*>(dx));
  });
}

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

void SwishElements(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                   void*) {
  const FloatTag d;
  with_storage(request.outputs[ops::Swish::kY].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    MapFloats(d, part.size(), arguments.input<T>(ops::Swish::kX) + part.begin,
              arguments.output<T>(ops::Swish::kY) + part.begin,
              [&](FloatVector x) HWY_ATTR { return Gate(d, x, x); });
  });
}

// With l = logistic(x): l + x l (1 - l).
void SwishGradientElements(const KernelRequest& request, const KernelArguments& arguments,
                           const Part& part, void*) {
  using Op = ops::SwishGradient;
  const FloatTag d;
  with_storage(request.outputs[Op::kDx].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    MapFloats(d, part.size(), arguments.input<T>(Op::kDy) + part.begin,
              arguments.input<T>(Op::kX) + part.begin, arguments.output<T>(Op::kDx) + part.begin,
              [&](FloatVector dy, FloatVector x) HWY_ATTR {
                const auto logistic = LogisticOf(d, x);
                const auto slope = hn::MulAdd(x, logistic.slope, logistic.value);
                return hn::Mul(dy, slope);
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

HWY_EXPORT(GeluForward);
HWY_EXPORT(GeluBackward);
HWY_EXPORT(TanhElements);
HWY_EXPORT(TanhGradientElements);
HWY_EXPORT(SwishElements);
HWY_EXPORT(SwishGradientElements);
HWY_EXPORT(GateRows);
HWY_EXPORT(GateGradientRows);

GeluRun run_of(const KernelRequest& request, const Part& part) {
  return {.form = request.attributes_as<ops::GeluAttributes>().form,
          .dtype = request.outputs[ops::Gelu::kY].dtype,
          .y_dtype = request.outputs[ops::Gelu::kY].dtype,
          .count = part.size()};
}

void run_forward(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                 void*) {
  const GeluRun run = run_of(request, part);
  gelu_elements(run, element(arguments.input<void>(ops::Gelu::kX), run.dtype, part.begin),
                element(arguments.output<void>(ops::Gelu::kY), run.dtype, part.begin));
}

void run_gradient(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                  void*) {
  using Op = ops::GeluGradient;
  const GeluRun run = run_of(request, part);
  gelu_gradient_elements(run, element(arguments.input<void>(Op::kDy), run.dtype, part.begin),
                         element(arguments.input<void>(Op::kX), run.dtype, part.begin),
                         element(arguments.output<void>(Op::kDx), run.dtype, part.begin));
}

}  // namespace

void gelu_elements(const GeluRun& run, const void* x, void* y) {
  HWY_DYNAMIC_DISPATCH(GeluForward)(run, x, y);
}

void gelu_in_parts(const GeluRun& run, int num_threads, const void* x, void* y) {
  for_each_part(element_work(run.count, num_threads), [&](const Part& part) {
    GeluRun own = run;
    own.count = part.size();
    gelu_elements(own, static_cast<const char*>(x) + part.begin * bytes_of(run.dtype),
                  static_cast<char*>(y) + part.begin * bytes_of(run.y_dtype));
  });
}

void gelu_gradient_elements(const GeluRun& run, const void* dy, const void* x, void* dx) {
  HWY_DYNAMIC_DISPATCH(GeluBackward)(run, dy, x, dx);
}

constinit const KernelEntry kGeluEntry{"cpu/gelu/vector", refuse_other_storage,
                                       create_element_kernel<run_forward>};
constinit const KernelEntry kGeluGradientEntry{"cpu/gelu_gradient/vector", refuse_other_storage,
                                               create_element_kernel<run_gradient>};
constinit const KernelEntry kTanhEntry{"cpu/tanh/vector", refuse_other_storage,
                                       create_element_kernel<CLOZE_DISPATCH_PART(TanhElements)>};
constinit const KernelEntry kTanhGradientEntry{
    "cpu/tanh_gradient/vector", refuse_other_storage,
    create_element_kernel<CLOZE_DISPATCH_PART(TanhGradientElements)>};
constinit const KernelEntry kSwishEntry{"cpu/swish/vector", refuse_other_storage,
                                        create_element_kernel<CLOZE_DISPATCH_PART(SwishElements)>};
constinit const KernelEntry kSwishGradientEntry{
    "cpu/swish_gradient/vector", refuse_other_storage,
    create_element_kernel<CLOZE_DISPATCH_PART(SwishGradientElements)>};
constinit const KernelEntry kGatedLinearUnitEntry{"cpu/gated_linear_unit/vector",
                                                  refuse_other_storage,
                                                  create_row_kernel<CLOZE_DISPATCH_PART(GateRows)>};
constinit const KernelEntry kGatedLinearUnitGradientEntry{
    "cpu/gated_linear_unit_gradient/vector", refuse_other_storage,
    create_row_kernel<CLOZE_DISPATCH_PART(GateGradientRows)>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
