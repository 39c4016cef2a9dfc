// linear and its gradients by oneDNN, where the processor multiplies bf16 itself: several times as
// fast as f32. Elsewhere linear.cc serves. GELU is applied to a few hundred rows at a time, while
// they are in the cache.
#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/matmul.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
#include "base/bfloat16.h"
#include "ops/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/linear_native.cc"
#include <hwy/foreach_target.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

#ifndef CLOZE_BACKEND_CPU_LINEAR_NATIVE_ONCE_
#define CLOZE_BACKEND_CPU_LINEAR_NATIVE_ONCE_
namespace cloze::backend::cpu {

// y = activation(u) for `count` elements.
struct ActivatedRange {
  DType dtype = DType::kF32;
  ops::GeluForm form = ops::GeluForm::kErf;
  const void* u = nullptr;
  void* y = nullptr;
  int64_t begin = 0;
  int64_t count = 0;
};

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
void ActivateRange(const ActivatedRange& range) {
  const FloatTag d;
  const T* u = static_cast<const T*>(range.u) + range.begin;
  T* y = static_cast<T*>(range.y) + range.begin;
  if (range.form == ops::GeluForm::kErf) {
    MapFloats(d, range.count, u, y, [d](FloatVector v) HWY_ATTR { return GeluErf(d, v); });
  } else {
    MapFloats(d, range.count, u, y, [d](FloatVector v) HWY_ATTR { return GeluTanh(d, v); });
  }
}

void activate_range(const ActivatedRange& range) {
  if (range.dtype == DType::kF32) return ActivateRange<float>(range);
  ActivateRange<bfloat16>(range);
}

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
  if (in.dtype == DType::kF32) return SumRows<float>(in);
  SumRows<bfloat16>(in);
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {

HWY_EXPORT(activate_range);
HWY_EXPORT(sum_dy_rows);

namespace {

size_t round_to_line(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Rows of an activated product at a time: a divisor of M that keeps the rows in the second cache,
// or all of them when there is none worth a product of its own.
int64_t activated_rows(int64_t M) {
  for (int64_t rows = 512; rows >= 128; --rows) {
    if (M % rows == 0) return rows;
  }
  return M;
}

class NativeLinear final : public Kernel {
 public:
  explicit NativeLinear(const KernelRequest& request)
      : request_(request),
        activation_(request.attributes_as<ops::LinearAttributes>().activation),
        M_(request.inputs[0].shape[0]),
        K_(request.inputs[0].shape[1]),
        N_(request.inputs[1].shape[0]),
        dtype_(request.inputs[0].dtype),
        rows_(activation_ ? activated_rows(M_) : M_),
        product_(shape()) {}

  size_t workspace_bytes() const override {
    return round_to_line(product_.packed_bytes()) + product_.scratch_bytes();
  }

  void run(const KernelArguments& arguments) override {
    char* workspace = static_cast<char*>(arguments.workspace);
    MatmulCall call;
    call.packed_b = product_.pack(arguments.input<void>(1), workspace);
    call.bias = request_.inputs.size() == 3 ? arguments.input<float>(2) : nullptr;
    call.scratch = workspace + round_to_line(product_.packed_bytes());
    const char* x = arguments.input<char>(0);
    char* u = arguments.output<char>(activation_ ? 1 : 0);
    for (int64_t row = 0; row < M_; row += rows_) {
      call.a = x + row * K_ * bytes_of(dtype_);
      call.c = u + row * N_ * bytes_of(dtype_);
      product_.run(call);
      if (activation_) activate(arguments, row);
    }
  }

 private:
  MatmulShape shape() const {
    MatmulShape shape{rows_, N_, K_};
    shape.b_is_transposed = true;
    shape.operand_dtype = shape.result_dtype = dtype_;
    shape.has_bias = request_.inputs.size() == 3;
    shape.num_threads = request_.num_threads;
    return shape;
  }

  void activate(const KernelArguments& arguments, int64_t row) const {
    for_each_part(element_work(request_, rows_ * N_), [&](const Part& part) {
      ActivatedRange range{dtype_, *activation_, arguments.output<void>(1),
                           arguments.output<void>(0)};
      range.begin = row * N_ + part.begin;
      range.count = part.size();
      HWY_DYNAMIC_DISPATCH(activate_range)(range);
    });
  }

  KernelRequest request_;
  std::optional<ops::GeluForm> activation_;
  int64_t M_, K_, N_;
  DType dtype_;
  int64_t rows_;
  Matmul product_;
};

class NativeLinearInputGradient final : public Kernel {
 public:
  explicit NativeLinearInputGradient(const KernelRequest& request) : product_(shape_of(request)) {}

  size_t workspace_bytes() const override {
    return round_to_line(product_.packed_bytes()) + product_.scratch_bytes();
  }

  void run(const KernelArguments& arguments) override {
    char* workspace = static_cast<char*>(arguments.workspace);
    MatmulCall call;
    call.a = arguments.input<void>(0);
    call.packed_b = product_.pack(arguments.input<void>(1), workspace);
    call.c = arguments.output<void>(0);
    call.scratch = workspace + round_to_line(product_.packed_bytes());
    product_.run(call);
  }

 private:
  static MatmulShape shape_of(const KernelRequest& request) {
    const Shape& weight = request.inputs[1].shape;
    MatmulShape shape{request.inputs[0].shape[0], weight[1], weight[0]};
    shape.operand_dtype = shape.result_dtype = request.inputs[0].dtype;
    shape.num_threads = request.num_threads;
    return shape;
  }

  Matmul product_;
};

class NativeLinearWeightGradient final : public Kernel {
 public:
  explicit NativeLinearWeightGradient(const KernelRequest& request)
      : request_(request),
        product_(shape_of(request)),
        row_sums_(request.inputs[0].shape[0], request.inputs[0].shape[1], request.num_threads) {}

  size_t workspace_bytes() const override {
    return round_to_line(product_.packed_bytes()) +
           std::max(product_.scratch_bytes(), row_sums_.workspace_bytes());
  }

  void run(const KernelArguments& arguments) override {
    char* workspace = static_cast<char*>(arguments.workspace);
    MatmulCall call;
    call.a = arguments.input<void>(0);
    call.packed_b = product_.pack(arguments.input<void>(1), workspace);
    call.c = arguments.output<void>(0);
    call.scratch = workspace + round_to_line(product_.packed_bytes());
    product_.run(call);
    if (request_.outputs.size() == 2) sum_bias(arguments, call.scratch);
  }

 private:
  static MatmulShape shape_of(const KernelRequest& request) {
    const Shape& dy = request.inputs[0].shape;
    MatmulShape shape{dy[1], request.inputs[1].shape[1], dy[0]};
    shape.a_is_transposed = true;
    shape.operand_dtype = request.inputs[0].dtype;
    shape.accumulates = request.accumulates[0];
    shape.num_threads = request.num_threads;
    return shape;
  }

  void sum_bias(const KernelArguments& arguments, void* workspace) const {
    SummedRows all{request_.inputs[0].dtype, arguments.input<void>(0), request_.inputs[0].shape[1]};
    row_sums_.for_each_chunk(workspace, [&](const Part& rows, float* sums) {
      SummedRows chunk = all;
      chunk.begin = rows.begin;
      chunk.end = rows.end;
      chunk.sums = sums;
      HWY_DYNAMIC_DISPATCH(sum_dy_rows)(chunk);
    });
    row_sums_.finish(workspace,
                     {arguments.output<float>(1), 0, all.columns, request_.accumulates[1]});
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
