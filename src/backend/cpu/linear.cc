// linear, grouped_linear and their gradients as blocked products (product.h): the weight is packed
// once per call, and bias, activation and rounding are applied to blocks of sums that are still in
// the cache. linear is grouped_linear with one group.
#include "ops/linear.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product.h"
#include "backend/cpu/storage.h"
#include "ops/grouped_linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_LINEAR_ONCE_
#define CLOZE_BACKEND_CPU_LINEAR_ONCE_
namespace cloze::backend::cpu {

// How to finish a block of sums. `bias` is null without a bias, and `u` without an activation.
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

// grouped_linear has no activation.
std::optional<ops::GeluForm> activation_of(const KernelRequest& request) {
  if (request.op != &ops::kLinear) return std::nullopt;
  return request.attributes_as<ops::LinearAttributes>().activation;
}

// Inputs and outputs of the operators have the same numbers; a gradient to the input has dy in
// place of x, dx in place of y, and no bias.
static_assert(int{ops::Linear::kBias} == int{ops::GroupedLinear::kBias});
static_assert(int{ops::Linear::kWeight} == int{ops::LinearInputGradient::kWeight});
static_assert(int{ops::Linear::kWeight} == int{ops::GroupedLinearInputGradient::kWeight});
static_assert(int{ops::LinearWeightGradient::kX} == int{ops::GroupedLinearWeightGradient::kX});

// The operators, x by the weight's transpose, and their gradients to the input, dy by the weight.
class Linear final : public Kernel, ops::Linear {
 public:
  explicit Linear(const KernelRequest& request)
      : request_(request),
        is_forward_(request.op == &ops::kLinear || request.op == &ops::kGroupedLinear),
        groups_(groups_of(request, is_forward_)),
        depth_(is_forward_ ? groups_.inputs : groups_.outputs),
        columns_(is_forward_ ? groups_.outputs : groups_.inputs),
        product_(shape()) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const bool has_bias = request_.inputs.size() > kBias;
    const DType dtype = request_.inputs[kX].dtype;
    const bool is_f32 = dtype == DType::kF32;
    for (int64_t g = 0; g < groups_.count; ++g) {
      LinearFinish finish;
      finish.bias = has_bias ? arguments.input<float>(kBias) + g * columns_ : nullptr;
      finish.y = element(arguments.output<void>(kY), dtype, g * columns_);
      finish.stride = groups_.count * columns_;
      finish.dtype = dtype;
      finish.activation = activation_of(request_);
      if (finish.activation) finish.u = arguments.output<void>(kU);
      LinearSink sink(finish);

      ProductCall call{request_.inputs[kX].shape[0], columns_, depth_};
      call.a = element(arguments.input<void>(kX), dtype, g * depth_);
      call.a_stride = groups_.count * depth_;
      call.b = arguments.input<float>(kWeight) + g * groups_.weights();
      call.b_stride = groups_.inputs;
      // Sums in f32 are gathered where the result goes.
      if (is_f32) call.c = static_cast<float*>(finish.activation ? finish.u : finish.y);
      call.c_stride = finish.stride;
      if (!is_f32 || has_bias || finish.activation) call.sink = &sink;
      call.workspace = arguments.workspace.as<void>();
      product_.run(call);
    }
  }

 private:
  static ops::LinearGroups groups_of(const KernelRequest& request, bool is_forward) {
    const graph::TensorType& x = is_forward ? request.inputs[kX] : request.outputs[kY];
    return ops::linear_groups(x.shape[1], request.inputs[kWeight].shape);
  }
  ProductShape shape() const {
    const graph::TensorType& a = request_.inputs[kX];
    ProductShape shape{a.shape[0], columns_, depth_};
    shape.b_is_transposed = is_forward_;
    shape.a_dtype = shape.b_dtype = a.dtype;
    // The weight is f32 and counts as rounded.
    shape.rounds_b = a.dtype != DType::kF32;
    shape.num_threads = host::threads_of(request_);
    return shape;
  }

  KernelRequest request_;
  bool is_forward_;
  ops::LinearGroups groups_;
  int64_t depth_, columns_;  // of a group's product
  Product product_;
};

class LinearWeightGradient final : public Kernel, ops::LinearWeightGradient {
 public:
  explicit LinearWeightGradient(const KernelRequest& request)
      : request_(request), groups_(groups_of(request)), product_(shape_of(request)) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const DType dtype = request_.inputs[kDy].dtype;
    for (int64_t g = 0; g < groups_.count; ++g) {
      ProductCall call{groups_.outputs, groups_.inputs, request_.inputs[kDy].shape[0]};
      call.a = element(arguments.input<void>(kDy), dtype, g * groups_.outputs);
      call.a_stride = groups_.all_outputs();
      call.b = element(arguments.input<void>(kX), dtype, g * groups_.inputs);
      call.b_stride = groups_.all_inputs();
      call.c = arguments.output<float>(kDweight) + g * groups_.weights();
      call.c_stride = groups_.inputs;
      call.accumulates = request_.accumulates[kDweight];
      if (request_.outputs.size() > kDbias) {
        call.row_sums = arguments.output<float>(kDbias) + g * groups_.outputs;
        call.adds_row_sums = request_.accumulates[kDbias];
      }
      call.workspace = arguments.workspace.as<void>();
      product_.run(call);
    }
  }

 private:
  static ops::LinearGroups groups_of(const KernelRequest& request) {
    return ops::linear_groups(request.inputs[kX].shape[1], request.outputs[kDweight].shape);
  }
  static ProductShape shape_of(const KernelRequest& request) {
    const ops::LinearGroups groups = groups_of(request);
    ProductShape shape{groups.outputs, groups.inputs, request.inputs[kDy].shape[0]};
    shape.a_is_transposed = true;
    shape.a_dtype = shape.b_dtype = request.inputs[kDy].dtype;
    shape.num_threads = host::threads_of(request);
    return shape;
  }

  KernelRequest request_;
  ops::LinearGroups groups_;
  Product product_;
};

constexpr KernelRow kRows[] = {
    {&ops::kLinear, "blocked", refuse_other_storage, create_kernel<Linear>},
    {&ops::kLinearInputGradient, "blocked", refuse_other_storage, create_kernel<Linear>},
    {&ops::kLinearWeightGradient, "blocked", refuse_other_storage,
     create_kernel<LinearWeightGradient>},
    {&ops::kGroupedLinear, "blocked", refuse_other_storage, create_kernel<Linear>},
    {&ops::kGroupedLinearInputGradient, "blocked", refuse_other_storage, create_kernel<Linear>},
    {&ops::kGroupedLinearWeightGradient, "blocked", refuse_other_storage,
     create_kernel<LinearWeightGradient>},
};

}  // namespace

KernelTable linear_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
