#include "ops/packed_linear.h"

#include "backend/gpu/kernels.h"
#include "backend/gpu/linear_product.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

std::optional<std::string> refuse_layout(const ops::WeightLayout& layout) {
  if (layout.is_plain()) return std::nullopt;
  return "reads weights that are laid out row by row";
}

struct PackWeight {
  static constexpr const graph::OpDefinition& kOp = ops::kPackWeight;
  static std::optional<std::string> refuse(const KernelRequest& request) {
    return refuse_layout(request.attributes_as<ops::PackWeightAttributes>().layout);
  }
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::PackWeight;
    round_to_nearest(call, call.input<float>(Op::kWeight), call.output<T>(Op::kPacked),
                     call.input_shape(Op::kWeight).elements());
  }
};

struct PackedLinear {
  static constexpr const graph::OpDefinition& kOp = ops::kPackedLinear;
  using Op = ops::PackedLinear;

  // Products with the same weight use the same sums, one after the other.
  struct Buffers {
    explicit Buffers(const KernelRequest& request) {
      const graph::TensorType& y = request.outputs[Op::kY];
      if (y.dtype == DType::kBF16) sums = workspace.add<float>(y.shape.elements());
    }
    WorkspaceLayout workspace;
    int64_t sums = 0;
  };

  static std::optional<std::string> refuse(const KernelRequest& request) {
    if (request.inputs[Op::kX].dtype != request.inputs[Op::kPacked].dtype) {
      return "multiplies numbers of one dtype";
    }
    return refuse_layout(request.attributes_as<ops::PackedLinearAttributes>().layout);
  }
  static size_t workspace_bytes(const KernelRequest& request) {
    return Buffers(request).workspace.bytes();
  }

  template <typename T, typename Y>
  static void multiply(const Call& call) {
    const Buffers buffers(call.request());
    const auto& attributes = call.attributes<ops::PackedLinearAttributes>();
    const Shape& x = call.input_shape(Op::kX);
    const int64_t N = attributes.outputs;
    for (int64_t i = 0; i < attributes.num_weights; ++i) {
      multiply_linear<T, Y>(
          call, {x[0], N, x[1]}, {call.input<T>(Op::kX), {.stride = x[1]}},
          {call.input<T>(ops::packed_input(i)), {.stride = x[1], .is_transposed = true}},
          {.stride = N},
          {.bias = call.input<float>(ops::bias_input(attributes, i)),
           .y = call.output<Y>(static_cast<size_t>(i)),
           .rows = x[0],
           .columns = N,
           .activation = attributes.activation,
           .sums_offset = buffers.sums});
    }
  }
  template <typename T>
  static void run(const Call& call) {
    if (call.request().outputs[Op::kY].dtype == DType::kF32) {
      multiply<T, float>(call);
    } else {
      multiply<T, T>(call);
    }
  }
};

}  // namespace

KernelTable packed_linear_kernels() { return table_of<PackedLinear, PackWeight>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
