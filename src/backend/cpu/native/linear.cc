// linear, grouped_linear and their gradients by oneDNN, where the processor multiplies bf16 itself.
// Elsewhere the vector kernels of linear.cc serve.
#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/native/activated_matmul.h"
#include "backend/cpu/native/matmul.h"
#include "backend/cpu/native/pair_packing.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/row_sums.h"
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

// The rows of a product that become the rows of y.
struct FinishedRows {
  const float* sums = nullptr;
  const float* bias = nullptr;  // may be null
  int64_t columns = 0;
  bfloat16* y = nullptr;
};

}  // namespace cloze::backend::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

// sums[j] = sum over some rows of dy[row, j].
void sum_dy_rows(const bfloat16* dy, int64_t columns, const Part& rows, float* sums) {
  std::fill_n(sums, columns, 0.0f);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    AddFloats(dy + row * columns, columns, sums);
  }
}

void round_elements(const float* from, int64_t count, bfloat16* to) { CopyFloats(from, count, to); }

// y = sums + bias, rows of all groups.
void finish_rows(const FinishedRows& f, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* sums = f.sums + row * f.columns;
    bfloat16* y = f.y + row * f.columns;
    if (f.bias == nullptr) {
      CopyFloats(sums, f.columns, y);
    } else {
      MapFloats(FloatTag(), f.columns, sums, f.bias, y,
                [](FloatVector v, FloatVector bias) HWY_ATTR { return hn::Add(v, bias); });
    }
  }
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

// B of a product in pairs, made once per run by all threads.
class PackedPairs {
 public:
  PackedPairs(int64_t depth, int64_t columns, int num_threads)
      : panels_{.columns = round_up(columns, kPairColumns),
                .depth = round_up(depth, kPairDepth),
                .panel_columns = kPairColumns},
        num_threads_(num_threads) {}

  size_t bytes() const {
    return static_cast<size_t>(panels_.columns * panels_.depth) * sizeof(bfloat16);
  }
  // Packs from rows [depth, columns], or from those of the transpose.
  template <typename T>
  void pack(const MatrixRows<T>& from, bool is_transposed, void* to) const {
    for_each_item(panels_.columns / kPairColumns, num_threads_, [&](int64_t panel, int) {
      const int64_t column = panel * kPairColumns;
      PairPanels one = panels_;
      one.panels = static_cast<bfloat16*>(to) + column * panels_.depth;
      one.columns = kPairColumns;
      MatrixRows<T> part = from;
      part.rows += column * (is_transposed ? from.stride : 1);
      if (is_transposed) {
        part.count = std::min(from.count - column, kPairColumns);
        pack_transposed_pairs(part, one);
      } else {
        part.width = std::min(from.width - column, kPairColumns);
        pack_pairs(part, one);
      }
    });
  }

 private:
  PairPanels panels_;  // of no memory yet
  int num_threads_;
};

// In pairs: the weight of linear, transposed to be B, or the weight of linear_input_gradient.
class PackedWeight {
 public:
  static constexpr MatmulWeight kLayout = MatmulWeight::kPairs;

  explicit PackedWeight(const KernelRequest& request, bool is_transposed = false)
      : shape_(request.inputs[ops::Linear::kWeight].shape),
        is_transposed_(is_transposed),
        packed_(shape_[is_transposed ? 1 : 0], shape_[is_transposed ? 0 : 1],
                host::threads_of(request)) {}

  size_t bytes() const { return packed_.bytes(); }
  void prepare(const float* weight, void* to) const {
    packed_.pack(FloatRows{weight, shape_[1], shape_[0], shape_[1]}, is_transposed_, to);
  }

 private:
  Shape shape_;
  bool is_transposed_;
  PackedPairs packed_;
};

// The weight of grouped_linear or of its gradient: rounded, in its stored layout.
class RoundedWeight {
 public:
  static constexpr MatmulWeight kLayout = MatmulWeight::kPlain;

  explicit RoundedWeight(const KernelRequest& request)
      : elements_(request.inputs[ops::GroupedLinear::kWeight].shape.elements()),
        num_threads_(host::threads_of(request)) {}

  size_t bytes() const { return static_cast<size_t>(elements_) * sizeof(bfloat16); }
  void prepare(const float* weight, void* to) const {
    for_each_part(element_work(elements_, num_threads_), [&](const Part& part) {
      HWY_DYNAMIC_DISPATCH(round_elements)
      (weight + part.begin, part.size(), static_cast<bfloat16*>(to) + part.begin);
    });
  }

 private:
  int64_t elements_;
  int num_threads_;
};

// y = x weight^T + bias, and GELU of it.
class NativeLinear final : public Kernel, ops::Linear {
 public:
  explicit NativeLinear(const KernelRequest& request)
      : has_bias_(request.inputs.size() > kBias),
        product_(shape_of(request)),
        weight_(request, /*is_transposed=*/true) {}

  size_t workspace_bytes() const override {
    return whole_lines(weight_.bytes()) + product_.scratch_bytes();
  }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    char* workspace = arguments.workspace.as<char>();
    weight_.prepare(arguments.input<float>(kWeight), workspace);
    MatmulCall call{arguments.input<void>(kX), workspace};
    call.bias = has_bias_ ? arguments.input<float>(kBias) : nullptr;
    call.c = arguments.output<void>(product_.is_activated() ? kU : kY);
    call.scratch = workspace + whole_lines(weight_.bytes());
    product_.run(call, arguments.output<void>(kY));
  }

 private:
  static ActivatedMatmulShape shape_of(const KernelRequest& request) {
    const Shape& x = request.inputs[kX].shape;
    ActivatedMatmulShape shape{.product = {x[0], request.inputs[kWeight].shape[0], x[1]}};
    shape.activation = request.attributes_as<ops::LinearAttributes>().activation;
    shape.product.result_dtype = shape.y_dtype = request.inputs[kX].dtype;
    shape.product.has_bias = request.inputs.size() > kBias;
    shape.product.num_threads = host::threads_of(request);
    return shape;
  }

  bool has_bias_;
  ActivatedMatmul product_;
  PackedWeight weight_;
};

// oneDNN adds no bias to groups: the sums of a part are f32 until it is added.
class NativeGroupedLinear final : public Kernel, ops::GroupedLinear {
 public:
  explicit NativeGroupedLinear(const KernelRequest& request)
      : request_(request), shape_(shape_of(request)), product_(shape_), weight_(request) {}

  size_t workspace_bytes() const override { return Buffers(*this, nullptr).workspace.bytes(); }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const Buffers buffers(*this, arguments.workspace.as<void>());
    weight_.prepare(arguments.input<float>(kWeight), buffers.weight);
    const float* bias = request_.inputs.size() > kBias ? arguments.input<float>(kBias) : nullptr;
    for_each_item(product_.num_parts(), shape_.num_threads, [&](int64_t part, int thread) {
      const Part rows = product_.rows(part);
      MatmulCall call{.b = buffers.weight, .scratch = buffers.scratch};
      call.a = arguments.input<bfloat16>(kX) + rows.begin * shape_.groups * shape_.depth;
      float* const sums = buffers.sums + thread * part_sums();
      call.c = sums;
      product_.run_part(part, thread, call);
      HWY_DYNAMIC_DISPATCH(finish_rows)
      ({sums, bias, columns(), arguments.output<bfloat16>(kY) + rows.begin * columns()},
       rows.size());
    });
  }

 private:
  struct Buffers {
    Buffers(const NativeGroupedLinear& of, void* memory) : workspace(memory) {
      const auto take = [&](size_t bytes) {
        return workspace.take<char>(static_cast<int64_t>(bytes));
      };
      weight = take(of.weight_.bytes());
      scratch = take(of.product_.scratch_bytes());
      sums = workspace.take<float>(of.shape_.num_threads * of.part_sums());
    }

    Workspace workspace;
    void* weight;
    void* scratch;
    float* sums;  // of a part, per thread
  };

  int64_t columns() const { return shape_.groups * shape_.n; }
  int64_t part_sums() const { return product_.most_rows() * columns(); }

  static MatmulShape shape_of(const KernelRequest& request) {
    const Shape& x = request.inputs[kX].shape;
    const ops::LinearGroups groups = ops::linear_groups(x[1], request.inputs[kWeight].shape);
    MatmulShape shape{x[0], groups.outputs, groups.inputs, MatmulWeight::kPlainTransposed,
                      groups.count};
    shape.num_threads = host::threads_of(request);
    return shape;
  }

  KernelRequest request_;
  MatmulShape shape_;
  Matmul product_;
  RoundedWeight weight_;
};

// dx = dy weight, of each group.
template <class Weight>
class NativeInputGradient final : public Kernel, ops::LinearInputGradient {
 public:
  explicit NativeInputGradient(const KernelRequest& request)
      : product_(shape_of(request)), weight_(request) {}

  size_t workspace_bytes() const override {
    return whole_lines(weight_.bytes()) + product_.scratch_bytes();
  }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    char* workspace = arguments.workspace.as<char>();
    weight_.prepare(arguments.input<float>(kWeight), workspace);
    product_.run({.a = arguments.input<void>(kDy),
                  .b = workspace,
                  .c = arguments.output<void>(kDx),
                  .scratch = workspace + whole_lines(weight_.bytes())});
  }

 private:
  static MatmulShape shape_of(const KernelRequest& request) {
    const ops::LinearGroups groups =
        ops::linear_groups(request.outputs[kDx].shape[1], request.inputs[kWeight].shape);
    MatmulShape shape{request.inputs[kDy].shape[0], groups.inputs, groups.outputs, Weight::kLayout,
                      groups.count};
    shape.result_dtype = request.inputs[kDy].dtype;
    shape.num_threads = host::threads_of(request);
    return shape;
  }

  Matmul product_;
  Weight weight_;
};

// dweight = dy^T x of each group: some rows of dweight at a time, from columns of dy that the
// thread lays out as rows.
class NativeLinearWeightGradient final : public Kernel, ops::LinearWeightGradient {
 public:
  explicit NativeLinearWeightGradient(const KernelRequest& request)
      : request_(request),
        rows_(request.inputs[kDy].shape[0]),
        groups_(ops::linear_groups(request.inputs[kX].shape[1], request.outputs[kDweight].shape)),
        product_(shape_of(request, groups_)),
        packed_(rows_, groups_.inputs, host::threads_of(request)),
        row_sums_(rows_, request.inputs[kDy].shape[1], host::threads_of(request)) {}

  size_t workspace_bytes() const override {
    return std::max(Buffers(*this, nullptr).workspace.bytes(), row_sums_.workspace_bytes());
  }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    const Buffers buffers(*this, arguments.workspace.as<void>());
    const int64_t dy_stride = request_.inputs[kDy].shape[1];
    const int64_t x_stride = request_.inputs[kX].shape[1];
    for (int64_t group = 0; group < groups_.count; ++group) {
      const bfloat16* x = arguments.input<bfloat16>(kX) + group * groups_.inputs;
      packed_.pack(HalfRows{x, x_stride, rows_, groups_.inputs}, /*is_transposed=*/false,
                   buffers.x);
      const bfloat16* dy = arguments.input<bfloat16>(kDy) + group * groups_.outputs;
      float* const dweight =
          arguments.output<float>(kDweight) + group * groups_.outputs * groups_.inputs;
      for_each_item(
          product_.num_parts(), host::threads_of(request_), [&](int64_t part, int thread) {
            const Part columns = product_.rows(part);
            bfloat16* const dy_by_column = buffers.dy_by_column + thread * part_elements();
            transpose({dy + columns.begin, dy_stride, rows_, columns.size()},
                      buffers.pairs + thread * pairs_elements(), dy_by_column);
            product_.run_part(part, thread,
                              {.a = dy_by_column,
                               .b = buffers.x,
                               .c = dweight + columns.begin * groups_.inputs,
                               .scratch = buffers.scratch});
          });
    }
    if (request_.outputs.size() > kDbias) {
      sum_bias(arguments, arguments.workspace.as<void>());
    }
  }

 private:
  static constexpr int64_t kTransposedRows = 2 * kPairStep;  // of dy at a time

  struct Buffers {
    Buffers(const NativeLinearWeightGradient& of, void* memory) : workspace(memory) {
      const auto take = [&](size_t bytes) {
        return workspace.take<char>(static_cast<int64_t>(bytes));
      };
      const int64_t threads = host::threads_of(of.request_);
      x = take(of.packed_.bytes());
      scratch = take(of.product_.scratch_bytes());
      pairs = workspace.take<bfloat16>(threads * of.pairs_elements());
      dy_by_column = workspace.take<bfloat16>(threads * of.part_elements());
    }

    Workspace workspace;
    void* x;                 // in pairs
    void* scratch;           // of the product
    bfloat16* pairs;         // a few rows of dy, per thread
    bfloat16* dy_by_column;  // [columns of a part, padded rows], per thread
  };

  int64_t padded_rows() const { return whole_pair_steps(rows_); }
  int64_t padded_columns() const { return whole_pair_steps(product_.most_rows()); }
  int64_t part_elements() const { return padded_columns() * padded_rows(); }
  int64_t pairs_elements() const { return padded_columns() * kTransposedRows; }

  static MatmulShape shape_of(const KernelRequest& request, const ops::LinearGroups& groups) {
    MatmulShape shape{groups.outputs, groups.inputs,
                      whole_pair_steps(request.inputs[kDy].shape[0])};
    shape.accumulates = request.accumulates[kDweight];
    shape.num_threads = host::threads_of(request);
    return shape;
  }

  // Lays out columns of dy as rows, a few rows of dy at a time, which stay in the L1 cache.
  void transpose(const HalfRows& dy, bfloat16* pairs, bfloat16* to) const {
    const int64_t columns = whole_pair_steps(dy.width);
    for (int64_t row = 0; row < padded_rows(); row += kTransposedRows) {
      HalfRows part = dy;
      part.rows += row * dy.stride;
      part.count = std::min(kTransposedRows, dy.count - row);
      const PairPanels panels{pairs, columns, std::min(kTransposedRows, padded_rows() - row)};
      pack_pairs(part, panels);
      transpose_panels(panels, padded_rows(), to + row);
    }
  }

  void sum_bias(const KernelArguments& arguments, void* workspace) const {
    const int64_t columns = request_.inputs[kDy].shape[1];
    row_sums_.for_each_chunk(workspace, [&](const Part& rows, float* sums) {
      HWY_DYNAMIC_DISPATCH(sum_dy_rows)(arguments.input<bfloat16>(kDy), columns, rows, sums);
    });
    row_sums_.finish(workspace,
                     {arguments.output<float>(kDbias), 0, columns, request_.accumulates[kDbias]});
  }

  KernelRequest request_;
  int64_t rows_;  // of x and dy
  ops::LinearGroups groups_;
  Matmul product_;
  PackedPairs packed_;
  RowSums row_sums_;
};

constexpr KernelRow kRows[] = {
    {&ops::kLinear, "native_bf16", refuse_unless_native_bf16, create_kernel<NativeLinear>},
    {&ops::kLinearInputGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeInputGradient<PackedWeight>>},
    {&ops::kGroupedLinear, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeGroupedLinear>},
    {&ops::kGroupedLinearInputGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeInputGradient<RoundedWeight>>},
    {&ops::kGroupedLinearWeightGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeLinearWeightGradient>},
    {&ops::kLinearWeightGradient, "native_bf16", refuse_unless_native_bf16,
     create_kernel<NativeLinearWeightGradient>},
};

}  // namespace

KernelTable native_linear_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif
