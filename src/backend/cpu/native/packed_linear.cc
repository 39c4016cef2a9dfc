// packed_linear by oneDNN, where the processor multiplies bf16 itself, and pack_weight for it: the
// weight is stored in pairs, as oneDNN reads it (packed_linear.h), so that one copy, made when
// the model is loaded, serves calls of every size, and a call need not lay out anything.
#include <algorithm>

#include "backend/cpu/kernels.h"
#include "backend/cpu/native/activated_matmul.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"
#include "ops/packed_linear.h"

namespace cloze::backend::cpu {
namespace {

template <typename T>
void pack_block(const float* weight, const Shape& shape, int64_t column, int64_t depth, T* packed) {
  const int64_t N = shape[0];
  const int64_t K = shape[1];
  std::fill(packed, packed + kPairColumns * kPairDepth, T(0.0f));
  for (int64_t j = 0; j < std::min(kPairColumns, N - column); ++j) {
    const float* row = weight + (column + j) * K + depth;
    for (int64_t k = 0; k < std::min(kPairDepth, K - depth); ++k) {
      packed[(k / 2 * kPairColumns + j) * 2 + k % 2] = T(row[k]);
    }
  }
}

class PackPairs final : public Kernel, ops::PackWeight {
 public:
  explicit PackPairs(const KernelRequest& request)
      : weight_(request.inputs[kWeight].shape),
        depth_blocks_(request.outputs[kPacked].shape[1]),
        dtype_(request.outputs[kPacked].dtype),
        work_{.items = request.outputs[kPacked].shape[0] * depth_blocks_,
              .num_threads = host::threads_of(request)} {}

  void run(const KernelArguments& arguments, Stream&) override {
    with_storage(dtype_, [&]<class T>(Storage<T>) { pack<T>(arguments); });
  }

 private:
  template <typename T>
  void pack(const KernelArguments& arguments) const {
    for_each_part(work_, [&](const Part& part) {
      for (int64_t block = part.begin; block < part.end; ++block) {
        pack_block(arguments.input<float>(kWeight), weight_, block / depth_blocks_ * kPairColumns,
                   block % depth_blocks_ * kPairDepth,
                   arguments.output<T>(kPacked) + block * kPairColumns * kPairDepth);
      }
    });
  }

  Shape weight_;
  int64_t depth_blocks_;
  DType dtype_;
  Work work_;
};

// If y is f32, its memory also holds u; otherwise the current rows of u are in scratch memory, so
// that a result is rounded to bf16 only once, when it is activated.
class NativePackedLinear final : public Kernel, ops::PackedLinear {
 public:
  explicit NativePackedLinear(const KernelRequest& request)
      : has_bias_(request.inputs.size() > bias_input()), product_(shape_of(request)) {}

  size_t workspace_bytes() const override { return product_.scratch_bytes(); }
  std::vector<KeptMemory> kept_memory() const override { return product_.kept_memory(); }

  void run(const KernelArguments& arguments, Stream&) override {
    void* y = arguments.output<void>(kY);
    product_.run({.a = arguments.input<void>(kX),
                  .b = arguments.input<void>(kPacked),
                  .bias = has_bias_ ? arguments.input<float>(bias_input()) : nullptr,
                  .c = y,
                  .scratch = arguments.workspace.as<void>()},
                 y);
  }

 private:
  static ActivatedMatmulShape shape_of(const KernelRequest& request) {
    const Shape& x = request.inputs[kX].shape;
    ActivatedMatmulShape shape{.product = {x[0], request.outputs[kY].shape[1], x[1]}};
    shape.activation = request.attributes_as<ops::PackedLinearAttributes>().activation;
    shape.y_dtype = request.outputs[kY].dtype;
    shape.keeps_u = !shape.activation || shape.y_dtype == DType::kF32;
    shape.product.result_dtype = shape.keeps_u ? shape.y_dtype : DType::kF32;
    shape.product.has_bias = request.inputs.size() > bias_input();
    shape.product.num_threads = host::threads_of(request);
    return shape;
  }

  static size_t bias_input() { return ops::bias_input({.num_weights = 1}, 0); }

  bool has_bias_;
  ActivatedMatmul product_;
};

std::optional<std::string> refuse_panels(const ops::WeightLayout& layout) {
  if (layout == kPairLayout) return std::nullopt;
  return "the weight is packed in panels";
}

std::optional<std::string> refuse_packed_linear(const KernelRequest& request) {
  const auto& attributes = request.attributes_as<ops::PackedLinearAttributes>();
  if (auto refusal = refuse_panels(attributes.layout)) return refusal;
  if (attributes.num_weights > 1) return "several weights";
  return refuse_unless_native_bf16(request);
}

constexpr KernelRow kRows[] = {
    {&ops::kPackWeight, "pairs",
     [](const KernelRequest& request) {
       return refuse_panels(request.attributes_as<ops::PackWeightAttributes>().layout);
     },
     create_kernel<PackPairs>},
    {&ops::kPackedLinear, "native_bf16", refuse_packed_linear, create_kernel<NativePackedLinear>},
};

}  // namespace

KernelTable native_packed_linear_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
