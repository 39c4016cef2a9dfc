// linear is grouped_linear with one group, and may have an activation.
#include "ops/linear.h"

#include "backend/gpu/column_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/linear_product.h"
#include "ops/grouped_linear.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

using ops::linear_groups;
using ops::LinearGroups;
using Forward = ops::Linear;
using OfInput = ops::LinearInputGradient;
using OfWeight = ops::LinearWeightGradient;

// Inputs and outputs of both operators have the same numbers.
static_assert(int{Forward::kBias} == int{ops::GroupedLinear::kBias});
static_assert(int{OfInput::kWeight} == int{ops::GroupedLinearInputGradient::kWeight});
static_assert(int{OfWeight::kX} == int{ops::GroupedLinearWeightGradient::kX});
static_assert(int{OfWeight::kDbias} == int{ops::GroupedLinearWeightGradient::kDbias});

// Where the inputs of all groups, their outputs, and the weight are.
MatrixLayout input_layout(const LinearGroups& groups) {
  return {.stride = groups.all_inputs(), .batch_stride = groups.inputs};
}
MatrixLayout output_layout(const LinearGroups& groups) {
  return {.stride = groups.all_outputs(), .batch_stride = groups.outputs};
}
MatrixLayout weight_layout(const LinearGroups& groups) {
  return {.stride = groups.inputs, .batch_stride = groups.weights()};
}
MatrixLayout transposed(MatrixLayout layout) {
  layout.is_transposed = true;
  return layout;
}

struct ForwardBuffers {
  explicit ForwardBuffers(const KernelRequest& request)
      : weight(workspace.add<bf16>(rounded_elements(request, Forward::kWeight))) {
    const bool is_product_alone =
        request.inputs.size() <= Forward::kBias && request.outputs.size() == 1;
    const graph::TensorType& y = request.outputs[Forward::kY];
    if (y.dtype == DType::kBF16 && !is_product_alone) {
      sums = workspace.add<float>(y.shape.elements());
    }
  }
  WorkspaceLayout workspace;
  int64_t weight, sums = 0;
};

template <typename T>
void multiply(const Call& call, const std::optional<ops::GeluForm>& activation) {
  const ForwardBuffers buffers(call.request());
  const Shape& x = call.input_shape(Forward::kX);
  const LinearGroups groups = linear_groups(x[1], call.input_shape(Forward::kWeight));
  const ProductSizes sizes{x[0], groups.outputs, groups.inputs, groups.count};
  multiply_linear<T, T>(call, sizes, {call.input<T>(Forward::kX), input_layout(groups)},
                        {rounded_weight<T>(call, Forward::kWeight, buffers.weight),
                         transposed(weight_layout(groups))},
                        output_layout(groups),
                        {.bias = call.input<float>(Forward::kBias),
                         .u = call.output<T>(Forward::kU),
                         .y = call.output<T>(Forward::kY),
                         .rows = x[0],
                         .columns = groups.all_outputs(),
                         .activation = activation,
                         .sums_offset = buffers.sums});
}

struct Linear {
  static constexpr const graph::OpDefinition& kOp = ops::kLinear;
  static size_t workspace_bytes(const KernelRequest& request) {
    return ForwardBuffers(request).workspace.bytes();
  }
  template <typename T>
  static void run(const Call& call) {
    multiply<T>(call, call.attributes<ops::LinearAttributes>().activation);
  }
};

struct GroupedLinear {
  static constexpr const graph::OpDefinition& kOp = ops::kGroupedLinear;
  static size_t workspace_bytes(const KernelRequest& request) {
    return ForwardBuffers(request).workspace.bytes();
  }
  template <typename T>
  static void run(const Call& call) {
    multiply<T>(call, std::nullopt);
  }
};

template <const graph::OpDefinition& op>
struct InputGradient {
  static constexpr const graph::OpDefinition& kOp = op;
  static size_t workspace_bytes(const KernelRequest& request) {
    return WeightBuffer(request, OfInput::kWeight).workspace.bytes();
  }
  template <typename T>
  static void run(const Call& call) {
    const WeightBuffer buffer(call.request(), OfInput::kWeight);
    const Shape& dx = call.output_shape(OfInput::kDx);
    const LinearGroups groups = linear_groups(dx[1], call.input_shape(OfInput::kWeight));
    call.multiply<T, T>(
        {dx[0], groups.inputs, groups.outputs, groups.count},
        {{call.input<T>(OfInput::kDy), output_layout(groups)},
         {rounded_weight<T>(call, OfInput::kWeight, buffer.weight), weight_layout(groups)},
         {call.output<T>(OfInput::kDx), input_layout(groups)}});
  }
};

SummedShape summed_dy(const Shape& dy) { return {dy[0], dy[1]}; }

// The sums of dy come after the product, and take its part of the workspace.
template <const graph::OpDefinition& op>
struct WeightGradient {
  static constexpr const graph::OpDefinition& kOp = op;
  static size_t workspace_bytes(const KernelRequest& request) {
    const int64_t elements = summed_dy(request.inputs[OfWeight::kDy].shape).part_elements(1);
    const bool has_bias = request.outputs.size() > OfWeight::kDbias;
    return std::max(WorkspaceLayout().bytes(),
                    has_bias ? static_cast<size_t>(elements) * sizeof(float) : 0);
  }
  template <typename T>
  static void run(const Call& call) {
    const Shape& dy = call.input_shape(OfWeight::kDy);
    const LinearGroups groups =
        linear_groups(call.input_shape(OfWeight::kX)[1], call.output_shape(OfWeight::kDweight));
    call.multiply<T, float>({groups.outputs, groups.inputs, dy[0], groups.count},
                            {{call.input<T>(OfWeight::kDy), transposed(output_layout(groups))},
                             {call.input<T>(OfWeight::kX), input_layout(groups)},
                             {call.output<float>(OfWeight::kDweight), weight_layout(groups)}},
                            call.accumulates(OfWeight::kDweight));
    if (!call.has_output(OfWeight::kDbias)) return;
    sum_columns<RowTerms<T>>(call, {call.input<T>(OfWeight::kDy), dy[1]}, summed_dy(dy),
                             outputs_of<1>(call, {OfWeight::kDbias}));
  }
};

}  // namespace

KernelTable linear_kernels() {
  return table_of<Linear, InputGradient<ops::kLinearInputGradient>,
                  WeightGradient<ops::kLinearWeightGradient>, GroupedLinear,
                  InputGradient<ops::kGroupedLinearInputGradient>,
                  WeightGradient<ops::kGroupedLinearWeightGradient>>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
