// linear and its gradients as blocked products (product.h): the weight is packed once a call, and
// bias, activation and rounding happen on blocks of sums that are still in the cache.
#include "ops/linear.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_LINEAR_ONCE_
#define CLOZE_BACKEND_CPU_LINEAR_ONCE_
namespace cloze::backend::cpu {

// What becomes of a block of sums. Without a bias that is null, without an activation u is.
struct LinearFinish {
  const float* bias = nullptr;
  void* y = nullptr;
  void* u = nullptr;
  int64_t stride = 0;
  DType dtype = DType::kF32;
  std::optional<ops::GeluForm> activation;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// y = f(sum + bias), and u = sum + bias when it is kept.
template <typename T, class Activation>
HWY_INLINE void FinishRows(const LinearFinish& finish, const ProductBlock& block,
                           const Activation& activation) {
  const FloatTag d;
  const bool keeps_u = finish.u != nullptr;
  const float* bias = finish.bias == nullptr ? nullptr : finish.bias + block.column;
  for (int64_t i = 0; i < block.rows; ++i) {
    const float* sums = block.values + i * block.stride;
    const int64_t offset = (block.row + i) * finish.stride + block.column;
    T* y = static_cast<T*>(finish.y) + offset;
    T* u = static_cast<T*>(finish.u) + offset;
    ForEachVector(d, block.columns, [&](int64_t j, auto part) HWY_ATTR {
      FloatVector v = LoadFloats(d, sums + j, part);
      if (bias != nullptr) v = hn::Add(v, LoadFloats(d, bias + j, part));
      if (keeps_u) StoreFloats(d, v, u + j, part);
      StoreFloats(d, activation(v), y + j, part);
    });
  }
}

void finish_block(const LinearFinish& finish, const ProductBlock& block) {
  with_storage(finish.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    WithActivation(FloatTag(), finish.activation, [&](const auto& activation) HWY_ATTR {
      FinishRows<T>(finish, block, activation);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(finish_block);

namespace {

class LinearSink final : public ProductSink {
 public:
  explicit LinearSink(const LinearFinish& finish) : finish_(finish) {}
  void take(const ProductBlock& block) override {
    HWY_DYNAMIC_DISPATCH(finish_block)(finish_, block);
  }

 private:
  LinearFinish finish_;
};

// A is of this dtype; the weight, B, is f32 and counts as rounded to it.
void set_dtypes(DType dtype, ProductShape& shape) {
  shape.a_dtype = shape.b_dtype = dtype;
  shape.rounds_b = dtype != DType::kF32;
}

class Linear final : public Kernel, ops::Linear {
 public:
  explicit Linear(const KernelRequest& request) : request_(request), product_(shape_of(request)) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const Shape& x = request_.inputs[kX].shape;
    const int64_t N = request_.inputs[kWeight].shape[0];
    const bool has_bias = request_.inputs.size() > kBias;
    LinearFinish finish;
    finish.bias = has_bias ? arguments.input<float>(kBias) : nullptr;
    finish.y = arguments.output<void>(kY);
    finish.stride = N;
    finish.dtype = request_.inputs[kX].dtype;
    finish.activation = request_.attributes_as<ops::LinearAttributes>().activation;
    if (finish.activation) finish.u = arguments.output<void>(kU);
    LinearSink sink(finish);

    ProductCall call{x[0], N, x[1], arguments.input<void>(kX), x[1], arguments.input<void>(kWeight),
                     x[1]};
    // Sums in f32 are gathered where the result goes.
    const bool is_f32 = finish.dtype == DType::kF32;
    if (is_f32) call.c = arguments.output<float>(finish.activation ? kU : kY);
    call.c_stride = N;
    if (!is_f32 || has_bias || finish.activation) call.sink = &sink;
    call.workspace = arguments.workspace.as<void>();
    product_.run(call);
  }

 private:
  static ProductShape shape_of(const KernelRequest& request) {
    const Shape& x = request.inputs[kX].shape;
    ProductShape shape{x[0], request.inputs[kWeight].shape[0], x[1]};
    shape.b_is_transposed = true;
    set_dtypes(request.inputs[kX].dtype, shape);
    shape.num_threads = request.num_threads;
    return shape;
  }

  KernelRequest request_;
  Product product_;
};

class LinearInputGradient final : public Kernel, ops::LinearInputGradient {
 public:
  explicit LinearInputGradient(const KernelRequest& request)
      : request_(request), product_(shape_of(request)) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const int64_t M = request_.inputs[kDy].shape[0];
    const int64_t N = request_.inputs[kWeight].shape[0];
    const int64_t K = request_.inputs[kWeight].shape[1];
    LinearFinish finish;
    finish.y = arguments.output<void>(kDx);
    finish.stride = K;
    finish.dtype = request_.inputs[kDy].dtype;
    LinearSink sink(finish);

    ProductCall call{M, K, N, arguments.input<void>(kDy), N, arguments.input<void>(kWeight), K};
    if (finish.dtype == DType::kF32) {
      call.c = arguments.output<float>(kDx);
    } else {
      call.sink = &sink;
    }
    call.c_stride = K;
    call.workspace = arguments.workspace.as<void>();
    product_.run(call);
  }

 private:
  static ProductShape shape_of(const KernelRequest& request) {
    const Shape& weight = request.inputs[kWeight].shape;
    ProductShape shape{request.inputs[kDy].shape[0], weight[1], weight[0]};
    set_dtypes(request.inputs[kDy].dtype, shape);
    shape.num_threads = request.num_threads;
    return shape;
  }

  KernelRequest request_;
  Product product_;
};

class LinearWeightGradient final : public Kernel, ops::LinearWeightGradient {
 public:
  explicit LinearWeightGradient(const KernelRequest& request)
      : request_(request), product_(shape_of(request)) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const Shape& dy = request_.inputs[kDy].shape;
    const int64_t K = request_.inputs[kX].shape[1];
    ProductCall call{dy[1], K, dy[0], arguments.input<void>(kDy), dy[1], arguments.input<void>(kX),
                     K};
    call.c = arguments.output<float>(kDweight);
    call.c_stride = K;
    call.accumulates = request_.accumulates[kDweight];
    if (request_.outputs.size() > kDbias) {
      call.row_sums = arguments.output<float>(kDbias);
      call.adds_row_sums = request_.accumulates[kDbias];
    }
    call.workspace = arguments.workspace.as<void>();
    product_.run(call);
  }

 private:
  static ProductShape shape_of(const KernelRequest& request) {
    const Shape& dy = request.inputs[kDy].shape;
    ProductShape shape{dy[1], request.inputs[kX].shape[1], dy[0]};
    shape.a_is_transposed = true;
    shape.a_dtype = shape.b_dtype = request.inputs[kDy].dtype;
    shape.num_threads = request.num_threads;
    return shape;
  }

  KernelRequest request_;
  Product product_;
};

}  // namespace

constinit const KernelEntry kLinearEntry{"cpu/linear/blocked", refuse_other_storage,
                                         create_kernel<Linear>};
constinit const KernelEntry kLinearInputGradientEntry{
    "cpu/linear_input_gradient/blocked", refuse_other_storage, create_kernel<LinearInputGradient>};
constinit const KernelEntry kLinearWeightGradientEntry{"cpu/linear_weight_gradient/blocked",
                                                       refuse_other_storage,
                                                       create_kernel<LinearWeightGradient>};

}  // namespace cloze::backend::cpu
#endif
