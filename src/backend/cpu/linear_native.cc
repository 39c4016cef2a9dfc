// linear and its gradients by oneDNN, where the processor multiplies bf16 itself: several times as
// fast as f32. Elsewhere linear.cc serves.
#include <algorithm>

#include "backend/cpu/activated_matmul.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/matmul.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/workspace.h"
#include "base/bfloat16.h"
#include "ops/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_native.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_LINEAR_NATIVE_ONCE_
#define CLOZE_BACKEND_CPU_LINEAR_NATIVE_ONCE_
namespace cloze::backend::cpu {

// sums[j] = sum over rows of dy[row, j].
struct SummedRows {
  DType dtype = DType::kF32;
  const void* dy = nullptr;
  int64_t columns = 0;
  int64_t begin = 0;
  int64_t end = 0;
  float* sums = nullptr;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

template <typename T>
void SumRows(const SummedRows& in) {
  const FloatTag d;
  std::fill(in.sums, in.sums + in.columns, 0.0f);
  for (int64_t row = in.begin; row < in.end; ++row) {
    const T* dy = static_cast<const T*>(in.dy) + row * in.columns;
    ForEachVector(d, in.columns, [&](int64_t j, auto part) HWY_ATTR {
      const FloatVector sum = LoadFloats(d, in.sums + j, part);
      StoreFloats(d, hn::Add(sum, LoadFloats(d, dy + j, part)), in.sums + j, part);
    });
  }
}

void sum_dy_rows(const SummedRows& in) {
  with_storage(in.dtype, [&]<class T>(Storage<T>) HWY_ATTR { SumRows<T>(in); });
}

void round_elements(const float* from, int64_t count, bfloat16* to) {
  MapFloats(FloatTag(), count, from, to, [](FloatVector v) HWY_ATTR { return v; });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(sum_dy_rows);
HWY_EXPORT(round_elements);

namespace {

// A weight as oneDNN is to lay it out: where it lies, or rounded to bf16 in memory of the
// workspace. oneDNN would round too, but takes two to four times as long to lay out f32 as bf16.
class RoundedWeight {
 public:
  // Of linear, and of linear_input_gradient, which has dy in the place of x.
  explicit RoundedWeight(const KernelRequest& request)
      : elements_(request.inputs[ops::Linear::kWeight].shape.elements()),
        rounds_(request.inputs[ops::Linear::kX].dtype == DType::kBF16),
        num_threads_(request.num_threads) {}

  size_t bytes() const {
    return rounds_ ? whole_lines(static_cast<size_t>(elements_) * sizeof(bfloat16)) : 0;
  }
  const void* round(const float* weight, void* memory) const {
    if (!rounds_) return weight;
    auto* const rounded = static_cast<bfloat16*>(memory);
    for_each_part(element_work(elements_, num_threads_), [&](const Part& part) {
      HWY_DYNAMIC_DISPATCH(round_elements)
      (weight + part.begin, part.size(), rounded + part.begin);
    });
    return rounded;
  }

 private:
  int64_t elements_;
  bool rounds_;
  int num_threads_;
};

// What a product with a weight takes: its scratch memory is used when the rounded weight is not
// needed any more, and lies over it.
struct WeightBuffers {
  template <class Product>
  WeightBuffers(const Product& product, const RoundedWeight& weight, void* memory)
      : workspace(memory),
        packed(workspace.take<char>(static_cast<int64_t>(product.packed_bytes()))),
        rounded_or_scratch(workspace.take<char>(
            static_cast<int64_t>(std::max(weight.bytes(), product.scratch_bytes())))) {}

  Workspace workspace;
  void* packed;
  void* rounded_or_scratch;
};

class NativeLinear final : public Kernel, ops::Linear {
 public:
  explicit NativeLinear(const KernelRequest& request)
      : shape_(shape_of(request)), product_(shape_), weight_(request) {}

  size_t workspace_bytes() const override {
    return WeightBuffers(product_, weight_, nullptr).workspace.bytes();
  }

  void run(const KernelArguments& arguments, Stream&) override {
    const WeightBuffers buffers(product_, weight_, arguments.workspace.as<void>());
    MatmulCall call;
    call.a = arguments.input<void>(kX);
    call.packed_b = product_.pack(
        weight_.round(arguments.input<float>(kWeight), buffers.rounded_or_scratch), buffers.packed);
    call.bias = shape_.product.has_bias ? arguments.input<float>(kBias) : nullptr;
    call.c = arguments.output<void>(shape_.activation ? kU : kY);
    call.scratch = buffers.rounded_or_scratch;
    product_.run(call, arguments.output<void>(kY));
  }

 private:
  static ActivatedMatmulShape shape_of(const KernelRequest& request) {
    const Shape& x = request.inputs[kX].shape;
    const DType dtype = request.inputs[kX].dtype;
    ActivatedMatmulShape shape{.product = {x[0], request.inputs[kWeight].shape[0], x[1]},
                               .y_dtype = dtype};
    shape.activation = request.attributes_as<ops::LinearAttributes>().activation;
    shape.product.b_is_transposed = true;
    shape.product.operand_dtype = shape.product.result_dtype = dtype;
    shape.product.has_bias = request.inputs.size() > kBias;
    shape.product.num_threads = request.num_threads;
    return shape;
  }

  ActivatedMatmulShape shape_;
  ActivatedMatmul product_;
  RoundedWeight weight_;
};

class NativeLinearInputGradient final : public Kernel, ops::LinearInputGradient {
 public:
  explicit NativeLinearInputGradient(const KernelRequest& request)
      : product_(shape_of(request)), weight_(request) {}

  size_t workspace_bytes() const override {
    return WeightBuffers(product_, weight_, nullptr).workspace.bytes();
  }

  void run(const KernelArguments& arguments, Stream&) override {
    const WeightBuffers buffers(product_, weight_, arguments.workspace.as<void>());
    MatmulCall call;
    call.a = arguments.input<void>(kDy);
    call.packed_b = product_.pack(
        weight_.round(arguments.input<float>(kWeight), buffers.rounded_or_scratch), buffers.packed);
    call.c = arguments.output<void>(kDx);
    call.scratch = buffers.rounded_or_scratch;
    product_.run(call);
  }

 private:
  static MatmulShape shape_of(const KernelRequest& request) {
    const Shape& weight = request.inputs[kWeight].shape;
    MatmulShape shape{request.inputs[kDy].shape[0], weight[1], weight[0]};
    shape.operand_dtype = shape.result_dtype = request.inputs[kDy].dtype;
    shape.num_threads = request.num_threads;
    return shape;
  }

  Matmul product_;
  RoundedWeight weight_;
};

class NativeLinearWeightGradient final : public Kernel, ops::LinearWeightGradient {
 public:
  explicit NativeLinearWeightGradient(const KernelRequest& request)
      : request_(request),
        product_(shape_of(request)),
        row_sums_(request.inputs[kDy].shape[0], request.inputs[kDy].shape[1], request.num_threads) {
  }

  size_t workspace_bytes() const override {
    return whole_lines(product_.packed_bytes()) +
           std::max(product_.scratch_bytes(), row_sums_.workspace_bytes());
  }

  void run(const KernelArguments& arguments, Stream&) override {
    char* workspace = arguments.workspace.as<char>();
    MatmulCall call;
    call.a = arguments.input<void>(kDy);
    call.packed_b = product_.pack(arguments.input<void>(kX), workspace);
    call.c = arguments.output<void>(kDweight);
    call.scratch = workspace + whole_lines(product_.packed_bytes());
    product_.run(call);
    if (request_.outputs.size() > kDbias) sum_bias(arguments, call.scratch);
  }

 private:
  static MatmulShape shape_of(const KernelRequest& request) {
    const Shape& dy = request.inputs[kDy].shape;
    MatmulShape shape{dy[1], request.inputs[kX].shape[1], dy[0]};
    shape.a_is_transposed = true;
    shape.operand_dtype = request.inputs[kDy].dtype;
    shape.accumulates = request.accumulates[kDweight];
    shape.num_threads = request.num_threads;
    return shape;
  }

  void sum_bias(const KernelArguments& arguments, void* workspace) const {
    SummedRows all{request_.inputs[kDy].dtype, arguments.input<void>(kDy),
                   request_.inputs[kDy].shape[1]};
    row_sums_.for_each_chunk(workspace, [&](const Part& rows, float* sums) {
      SummedRows chunk = all;
      chunk.begin = rows.begin;
      chunk.end = rows.end;
      chunk.sums = sums;
      HWY_DYNAMIC_DISPATCH(sum_dy_rows)(chunk);
    });
    row_sums_.finish(
        workspace, {arguments.output<float>(kDbias), 0, all.columns, request_.accumulates[kDbias]});
  }

  KernelRequest request_;
  Matmul product_;
  RowSums row_sums_;
};

}  // namespace

constinit const KernelEntry kNativeLinearEntry{"cpu/linear/native_bf16", refuse_unless_native_bf16,
                                               create_kernel<NativeLinear>};
constinit const KernelEntry kNativeLinearInputGradientEntry{
    "cpu/linear_input_gradient/native_bf16", refuse_unless_native_bf16,
    create_kernel<NativeLinearInputGradient>};
constinit const KernelEntry kNativeLinearWeightGradientEntry{
    "cpu/linear_weight_gradient/native_bf16", refuse_unless_native_bf16,
    create_kernel<NativeLinearWeightGradient>};

}  // namespace cloze::backend::cpu
#endif
