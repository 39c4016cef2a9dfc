// Operators that compute each output element from the input elements at the same place.
#include "ops/elementwise.h"

#include "backend/gpu/kernels.h"
#include "backend/gpu/math.h"
#include "base/division.h"
#include "ops/gated_linear_unit.h"
#include "ops/gelu.h"
#include "ops/swish.h"
#include "ops/tanh.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

// y = f(a), or y = f(a, b), by how many f takes. A thread has the elements of 16 bytes.
template <typename T, typename Function>
struct Map {
  static constexpr int kThreads = 256;
  static constexpr int kWidth = 16 / sizeof(T);
  static constexpr bool kIsUnary = requires { Function::of(0.0f); };
  struct Arguments {
    Global<const T> a, b;
    Global<T> y;
    int64_t count;
  };
  using Elements = Neighbours<T, kWidth>;

  CLOZE_DEVICE static T value(T a, T b) {
    if constexpr (kIsUnary) {
      return from_float<T>(Function::of(to_float(a)));
    } else {
      return from_float<T>(Function::of(to_float(a), to_float(b)));
    }
  }

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t first = global_thread<Map>() * kWidth;
    if (first + kWidth <= in.count) {
      const Elements a = in.a.template load<Elements>(first);
      const Elements b = kIsUnary ? a : in.b.template load<Elements>(first);
      Elements y;
      for (int i = 0; i < kWidth; ++i) y.x[i] = value(a.x[i], b.x[i]);
      in.y.store(first, y);
      return;
    }
    for (int64_t i = first; i < in.count; ++i) {
      const T a = in.a.load(i);
      in.y.store(i, value(a, kIsUnary ? a : in.b.load(i)));
    }
  }
};

template <typename T, typename Function>
void map(const Call& call) {
  using Kernel = Map<T, Function>;
  const int64_t count = call.output_shape(0).elements();
  const int64_t blocks = divide_up(count, int64_t{Kernel::kThreads} * Kernel::kWidth);
  const Global<const T> b = Kernel::kIsUnary ? Global<const T>() : call.input<T>(1);
  call.launch<Kernel>({blocks}, {call.input<T>(0), b, call.output<T>(0), count});
}

// Operators whose kernel is one function.
#define CLOZE_MAPPED_OPERATOR(Operator, parameters, result)             \
  struct Operator {                                                     \
    static constexpr const graph::OpDefinition& kOp = ops::k##Operator; \
    CLOZE_DEVICE static float of parameters { return result; }          \
    template <typename T>                                               \
    static void run(const Call& call) {                                 \
      map<T, Operator>(call);                                           \
    }                                                                   \
  }
CLOZE_MAPPED_OPERATOR(Add, (float a, float b), a + b);
CLOZE_MAPPED_OPERATOR(Tanh, (float x), hyperbolic_tangent(x));
CLOZE_MAPPED_OPERATOR(TanhGradient, (float dy, float y), (dy * fused(-y, y, 1.0f)));
CLOZE_MAPPED_OPERATOR(Swish, (float x), gated(x, x));
CLOZE_MAPPED_OPERATOR(SwishGradient, (float dy, float x), (dy * swish_derivative(x)));
#undef CLOZE_MAPPED_OPERATOR

struct GeluByErfGradient {
  CLOZE_DEVICE static float of(float dy, float x) { return dy * gelu_erf_derivative(x); }
};
struct GeluByTanhGradient {
  CLOZE_DEVICE static float of(float dy, float x) { return dy * gelu_tanh_derivative(x); }
};

template <typename T, typename ByErf, typename ByTanh>
void map_by_form(const Call& call) {
  if (call.attributes<ops::GeluAttributes>().form == ops::GeluForm::kErf) {
    map<T, ByErf>(call);
  } else {
    map<T, ByTanh>(call);
  }
}

struct Gelu {
  static constexpr const graph::OpDefinition& kOp = ops::kGelu;
  template <typename T>
  static void run(const Call& call) {
    map_by_form<T, GeluByErf, GeluByTanh>(call);
  }
};
struct GeluGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kGeluGradient;
  template <typename T>
  static void run(const Call& call) {
    map_by_form<T, GeluByErfGradient, GeluByTanhGradient>(call);
  }
};

// The columns of x are gates and then values. A thread has a column of y.
template <typename T, bool kIsGradient>
struct GateColumns {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<const T> dy, x;
    Global<T> result;  // y, or dx
    int64_t rows, columns;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t at = global_thread<GateColumns>();
    if (at >= in.rows * in.columns) return;
    const int64_t gate_at = at / in.columns * 2 * in.columns + at % in.columns;
    const float gate = to_float(in.x.load(gate_at));
    const float value = to_float(in.x.load(gate_at + in.columns));
    if constexpr (kIsGradient) {
      const float dy = to_float(in.dy.load(at));
      const Logistic logistic = logistic_of(gate);
      in.result.store(gate_at, from_float<T>(dy * value * logistic.slope));
      in.result.store(gate_at + in.columns, from_float<T>(dy * logistic.value));
    } else {
      in.result.store(at, from_float<T>(gated(value, gate)));
    }
  }
};

template <typename T, bool kIsGradient>
void gate_columns(const Call& call, const Global<const T>& dy, const Global<const T>& x,
                  const Shape& shape) {
  using Kernel = GateColumns<T, kIsGradient>;
  call.launch<Kernel>({divide_up(shape.elements(), int64_t{Kernel::kThreads})},
                      {dy, x, call.output<T>(0), shape[0], shape[1]});
}

struct GatedLinearUnit {
  static constexpr const graph::OpDefinition& kOp = ops::kGatedLinearUnit;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::GatedLinearUnit;
    gate_columns<T, false>(call, {}, call.input<T>(Op::kX), call.output_shape(Op::kY));
  }
};
struct GatedLinearUnitGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kGatedLinearUnitGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::GatedLinearUnitGradient;
    gate_columns<T, true>(call, call.input<T>(Op::kDy), call.input<T>(Op::kX),
                          call.input_shape(Op::kDy));
  }
};

// y = x, or y += x.
template <typename T, bool kAdds>
struct Sum {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<const T> x;
    Global<T> y;
    int64_t count;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t i = global_thread<Sum>();
    if (i >= in.count) return;
    const float x = to_float(in.x.load(i));
    in.y.store(i, from_float<T>(kAdds ? to_float(in.y.load(i)) + x : x));
  }
};

struct Accumulate {
  static constexpr const graph::OpDefinition& kOp = ops::kAccumulate;
  template <typename T, bool kAdds>
  static void sum(const Call& call) {
    using Kernel = Sum<T, kAdds>;
    const int64_t count = call.output_shape(0).elements();
    call.launch<Kernel>({divide_up(count, int64_t{Kernel::kThreads})},
                        {call.input<T>(0), call.output<T>(0), count});
  }
  template <typename T>
  static void run(const Call& call) {
    if (call.accumulates(ops::Accumulate::kY)) {
      sum<T, true>(call);
    } else {
      sum<T, false>(call);
    }
  }
};

}  // namespace

KernelTable elementwise_kernels() {
  return table_of<Accumulate, Add, GatedLinearUnit, GatedLinearUnitGradient, Gelu, GeluGradient,
                  Swish, SwishGradient, Tanh, TanhGradient>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
