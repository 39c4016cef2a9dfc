#include "ops/packed_linear.h"

#include "base/division.h"
#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer_pack(std::span<const TensorType> in, const std::any& attributes) {
  const auto& pack = std::any_cast<const PackWeightAttributes&>(attributes);
  const int64_t N = in[PackWeight::kWeight].shape[0];
  const int64_t K = in[PackWeight::kWeight].shape[1];
  if (pack.layout == WeightLayout::kPairs) {
    return {
        {pack.dtype,
         {divide_up(N, kPairColumns), divide_up(K, kPairDepth), kPairDepth / 2, kPairColumns, 2}}};
  }
  CLOZE_CHECK(pack.panel_columns > 0, "panels of {} columns", pack.panel_columns);
  const int64_t C = pack.panel_columns;
  return {{pack.dtype, {divide_up(N, C), K, C}}};
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  const auto& linear = std::any_cast<const PackedLinearAttributes&>(attributes);
  const auto num_weights = static_cast<size_t>(linear.num_weights);
  const bool has_bias = in.size() > 1 + num_weights;
  CLOZE_CHECK(in.size() == 1 + (has_bias ? 2 : 1) * num_weights,
              "packed_linear: {} inputs for {} weights", in.size(), num_weights);
  const TensorType& packed = in[PackedLinear::kPacked];
  const PackWeightAttributes pack{packed.shape[-1], packed.dtype, layout_of(packed.shape)};
  const bool is_in_pairs = pack.layout == WeightLayout::kPairs;
  const TensorType x{is_in_pairs ? packed.dtype : DType::kF32, in[PackedLinear::kX].shape};
  expect_type(kPackedLinear, in, PackedLinear::kX, x);
  CLOZE_CHECK(num_weights == 1 || !is_in_pairs, "{} weights in pairs", num_weights);
  const TensorType weight{DType::kF32, {linear.outputs, x.shape[1]}};
  const TensorType expected = infer_pack(std::vector{weight}, pack)[0];
  const TensorType bias{DType::kF32, {linear.outputs}};
  for (int64_t i = 0; i < linear.num_weights; ++i) {
    expect_type(kPackedLinear, in, packed_input(i), expected);
    if (has_bias) expect_type(kPackedLinear, in, bias_input(linear, i), bias);
  }
  const TensorType y{is_in_pairs ? linear.dtype : DType::kF32, {x.shape[0], linear.outputs}};
  return std::vector(num_weights, y);
}

double flops(std::span<const TensorType> in, const std::any& attributes) {
  const auto& linear = std::any_cast<const PackedLinearAttributes&>(attributes);
  const int64_t outputs = linear.num_weights * linear.outputs;
  return 2.0 * static_cast<double>(in[PackedLinear::kX].shape.elements()) *
         static_cast<double>(outputs);
}

}  // namespace

WeightLayout layout_of(const Shape& packed) {
  return packed.rank() == 5 ? WeightLayout::kPairs : WeightLayout::kPanels;
}

const graph::OpDefinition kPackWeight{
    .name = "pack_weight", .inputs = {"weight"}, .infer = infer_pack};
const graph::OpDefinition kPackedLinear{.name = "packed_linear",
                                        .inputs = {"x", "packed weight or bias"},
                                        .repeats_last_input = true,
                                        .infer = infer,
                                        .flops = flops};

}  // namespace cloze::ops
