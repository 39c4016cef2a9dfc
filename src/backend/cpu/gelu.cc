#include "backend/cpu/gelu.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/gelu.cc"
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(GeluForward);
HWY_EXPORT(GeluBackward);

GeluRun run_of(const KernelRequest& request, const Part& part) {
  return {.form = request.attributes_as<ops::GeluAttributes>().form,
          .dtype = request.outputs[ops::Gelu::kY].dtype,
          .y_dtype = request.outputs[ops::Gelu::kY].dtype,
          .count = part.size()};
}

// The address of element i.
char* element(void* tensor, DType dtype, int64_t i) {
  return static_cast<char*>(tensor) + i * bytes_of(dtype);
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

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
