// linear, grouped_linear and their gradients by oneDNN, where the processor multiplies bf16 itself:
// several times as fast as f32. Elsewhere linear.cc serves.
#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/native/activated_matmul.h"
#include "backend/cpu/native/matmul.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/workspace.h"
#include "base/bfloat16.h"
#include "ops/grouped_linear.h"
#include "ops/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/native/linear.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_LINEAR_NATIVE_ONCE_
#define CLOZE_BACKEND_CPU_LINEAR_NATIVE_ONCE_
namespace cloze::backend::cpu {

// The rows of a product, which are to become those of y.
struct FinishedRows {
  DType dtype = DType::kF32;
  const float* sums = nullptr;
  const float* bias = nullptr;  // may be null
  int64_t columns = 0;
  void* y = nullptr;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// sums[j] = sum over some rows of dy[row, j].
void sum_dy_rows(const graph::TensorType& type, const void* dy, const Part& rows, float* sums) {
  const int64_t columns = type.shape[1];
  std::fill_n(sums, columns, 0.0f);
  with_storage(type.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      AddFloats(static_cast<const T*>(dy) + row * columns, columns, sums);
    }
  });
}

void round_elements(const float* from, int64_t count, bfloat16* to) { CopyFloats(from, count, to); }

// y = sums + bias, rows of all groups.
void finish_rows(const FinishedRows& f, const Part& rows) {
  with_storage(f.dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float* sums = f.sums + row * f.columns;
      T* y = static_cast<T*>(f.y) + row * f.columns;
      if (f.bias == nullptr) {
        CopyFloats(sums, f.columns, y);
      } else {
        MapFloats(FloatTag(), f.columns, sums, f.bias, y,
                  [](FloatVector v, FloatVector bias) HWY_ATTR { return hn::Add(v, bias); });
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(sum_dy_rows);
HWY_EXPORT(round_elements);
HWY_EXPORT(finish_rows);

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

// What a product with a weight takes. A weight that is packed is not needed rounded any more when
// the product runs: scratch memory lies over it.
struct WeightBuffers {
  template <class Product>
  WeightBuffers(const Product& product, const RoundedWeight& weight, void* memory)
      : workspace(memory), packed(take(product.packed_bytes())) {
    const bool is_packed = product.packed_bytes() > 0;
    rounded = take(is_packed ? std::max(weight.bytes(), product.scratch_bytes()) : weight.bytes());
    scratch = is_packed ? rounded : take(product.scratch_bytes());
  }

  Workspace workspace;
  void* packed;
  void* rounded;
  void* scratch;

 private:
  void* take(size_t bytes) { return workspace.take<char>(static_cast<int64_t>(bytes)); }
};

class NativeLinear final : public Kernel, ops::Linear {
 public:
  explicit NativeLinear(const KernelRequest& request)
      : shape_(shape_of(request)), product_(shape_), weight_(request) {}

  size_t workspace_bytes() const override {
    return WeightBuffers(product_, weight_, nullptr).workspace.bytes();
  }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const WeightBuffers buffers(product_, weight_, arguments.workspace.as<void>());
    MatmulCall call;
    call.a = arguments.input<void>(kX);
    call.packed_b = product_.pack(weight_.round(arguments.input<float>(kWeight), buffers.rounded),
                                  buffers.packed);
    call.bias = shape_.product.has_bias ? arguments.input<float>(kBias) : nullptr;
    call.c = arguments.output<void>(shape_.activation ? kU : kY);
    call.scratch = buffers.scratch;
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

// oneDNN adds no bias to groups: their sums are f32 until it is added, some rows at a time, while
// they are in the last cache. The last rows are as many as the others, as in ActivatedMatmul.
class NativeGroupedLinear final : public Kernel, ops::GroupedLinear {
 public:
  explicit NativeGroupedLinear(const KernelRequest& request)
      : request_(request), shape_(shape_of(request)), product_(shape_), weight_(request) {}

  size_t workspace_bytes() const override { return Buffers(*this, nullptr).workspace.bytes(); }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const Buffers buffers(*this, arguments.workspace.as<void>());
    const int64_t columns = shape_.groups * shape_.n;
    const int64_t depth = shape_.groups * shape_.depth;
    const int64_t M = request_.inputs[kX].shape[0];
    MatmulCall call;
    call.packed_b = product_.pack(weight_.round(arguments.input<float>(kWeight), buffers.rounded),
                                  buffers.packed);
    call.c = buffers.sums;
    call.scratch = buffers.scratch;
    for (int64_t begin = 0; begin < M; begin += shape_.m) {
      const int64_t row = std::min(begin, M - shape_.m);
      call.a = element(arguments.input<void>(kX), shape_.operand_dtype, row * depth);
      product_.run(call);
      FinishedRows all{.dtype = shape_.operand_dtype, .sums = buffers.sums, .columns = columns};
      if (request_.inputs.size() > kBias) all.bias = arguments.input<float>(kBias);
      all.y = element(arguments.output<void>(kY), all.dtype, row * columns);
      for_each_part(row_work(request_, shape_.m, columns), [&](const Part& part) {
        HWY_DYNAMIC_DISPATCH(finish_rows)(all, part);
      });
    }
  }

 private:
  struct Buffers : WeightBuffers {
    Buffers(const NativeGroupedLinear& of, void* memory)
        : WeightBuffers(of.product_, of.weight_, memory),
          sums(workspace.take<float>(of.shape_.m * of.shape_.groups * of.shape_.n)) {}

    float* sums;
  };

  static MatmulShape shape_of(const KernelRequest& request) {
    const Shape& x = request.inputs[kX].shape;
    const ops::LinearGroups groups = ops::linear_groups(x[1], request.inputs[kWeight].shape);
    const int64_t rows = divide_up(x[0], divide_up(x[0], kMostGroupedRows));
    MatmulShape shape{rows, groups.outputs, groups.inputs, groups.count};
    shape.b_is_transposed = true;
    shape.operand_dtype = request.inputs[kX].dtype;
    shape.num_threads = request.num_threads;
    return shape;
  }

  KernelRequest request_;
  MatmulShape shape_;  // of some rows
  Matmul product_;
  RoundedWeight weight_;
};

class NativeLinearInputGradient final : public Kernel, ops::LinearInputGradient {
 public:
  explicit NativeLinearInputGradient(const KernelRequest& request)
      : product_(shape_of(request)), weight_(request) {}

  size_t workspace_bytes() const override {
    return WeightBuffers(product_, weight_, nullptr).workspace.bytes();
  }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const WeightBuffers buffers(product_, weight_, arguments.workspace.as<void>());
    MatmulCall call;
    call.a = arguments.input<void>(kDy);
    call.packed_b = product_.pack(weight_.round(arguments.input<float>(kWeight), buffers.rounded),
                                  buffers.packed);
    call.c = arguments.output<void>(kDx);
    call.scratch = buffers.scratch;
    product_.run(call);
  }

 private:
  static MatmulShape shape_of(const KernelRequest& request) {
    const ops::LinearGroups groups =
        ops::linear_groups(request.outputs[kDx].shape[1], request.inputs[kWeight].shape);
    MatmulShape shape{request.inputs[kDy].shape[0], groups.inputs, groups.outputs, groups.count};
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
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

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
    const ops::LinearGroups groups =
        ops::linear_groups(request.inputs[kX].shape[1], request.outputs[kDweight].shape);
    MatmulShape shape{groups.outputs, groups.inputs, request.inputs[kDy].shape[0], groups.count};
    shape.a_is_transposed = true;
    shape.operand_dtype = request.inputs[kDy].dtype;
    shape.accumulates = request.accumulates[kDweight];
    shape.num_threads = request.num_threads;
    return shape;
  }

  void sum_bias(const KernelArguments& arguments, void* workspace) const {
    const graph::TensorType& dy = request_.inputs[kDy];
    row_sums_.for_each_chunk(workspace, [&](const Part& rows, float* sums) {
      HWY_DYNAMIC_DISPATCH(sum_dy_rows)(dy, arguments.input<void>(kDy), rows, sums);
    });
    row_sums_.finish(
        workspace, {arguments.output<float>(kDbias), 0, dy.shape[1], request_.accumulates[kDbias]});
  }

  KernelRequest request_;
  Matmul product_;
  RowSums row_sums_;
};

constexpr KernelRow kRows[] = {
    {&ops::kLinear, "native_bf16", refuse_unless_native_bf16, create_kernel<NativeLinear>},
    {&ops::kLinearInputGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeLinearInputGradient>},
    {&ops::kGroupedLinear, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeGroupedLinear>},
    {&ops::kGroupedLinearInputGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeLinearInputGradient>},
    {&ops::kGroupedLinearWeightGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeLinearWeightGradient>},
    {&ops::kLinearWeightGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeLinearWeightGradient>},
};

}  // namespace

KernelTable native_linear_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
