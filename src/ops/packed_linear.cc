#include "ops/packed_linear.h"

#include "base/division.h"
#include "ops/type_check.h"

namespace cloze::ops {
namespace {

// The inputs of a block.
int64_t block_depth(const WeightLayout& layout, int64_t K) {
  return layout.depth > 0 ? layout.depth : round_up(K, layout.neighbours);
}

std::vector<TensorType> infer_pack(std::span<const TensorType> in, const std::any& attributes) {
  const auto& pack = std::any_cast<const PackWeightAttributes&>(attributes);
  const Shape& weight = in[PackWeight::kWeight].shape;
  if (pack.layout.is_plain()) return {{pack.dtype, weight}};
  return {{pack.dtype, pack.layout.shape(weight[0], weight[1])}};
}

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  const auto& linear = std::any_cast<const PackedLinearAttributes&>(attributes);
  const auto num_weights = static_cast<size_t>(linear.num_weights);
  const bool has_bias = in.size() > 1 + num_weights;
  CLOZE_CHECK(in.size() == 1 + (has_bias ? 2 : 1) * num_weights,
              "packed_linear: {} inputs for {} weights", in.size(), num_weights);
  const TensorType& x = in[PackedLinear::kX];
  const DType weights = in[PackedLinear::kPacked].dtype;
  CLOZE_CHECK(x.dtype == DType::kF32 || x.dtype == weights, "packed_linear: {} by {}",
              name_of(x.dtype), name_of(weights));
  CLOZE_CHECK(linear.dtype == DType::kF32 || linear.dtype == x.dtype, "packed_linear: {} from {}",
              name_of(linear.dtype), name_of(x.dtype));
  const TensorType packed{weights, linear.layout.shape(linear.outputs, x.shape[1])};
  const TensorType bias{DType::kF32, {linear.outputs}};
  for (int64_t i = 0; i < linear.num_weights; ++i) {
    expect_type(kPackedLinear, in, packed_input(i), packed);
    if (has_bias) expect_type(kPackedLinear, in, bias_input(linear, i), bias);
  }
  return std::vector(num_weights, TensorType{linear.dtype, {x.shape[0], linear.outputs}});
}

double flops(std::span<const TensorType> in, const std::any& attributes) {
  const auto& linear = std::any_cast<const PackedLinearAttributes&>(attributes);
  const int64_t outputs = linear.num_weights * linear.outputs;
  return 2.0 * static_cast<double>(in[PackedLinear::kX].shape.elements()) *
         static_cast<double>(outputs);
}

}  // namespace

Shape WeightLayout::shape(int64_t N, int64_t K) const {
  CLOZE_CHECK(columns > 0 && depth % neighbours == 0, "blocks of {} by {}, {} together", columns,
              depth, neighbours);
  if (is_plain()) return {N, K};
  const int64_t D = block_depth(*this, K);
  std::vector<int64_t> dims{divide_up(N, columns)};
  if (depth > 0) dims.push_back(divide_up(K, D));
  dims.insert(dims.end(), {D / neighbours, columns});
  if (neighbours > 1) dims.push_back(neighbours);
  return Shape(dims);
}

int64_t WeightLayout::place(int64_t n, int64_t k, int64_t K) const {
  const int64_t D = block_depth(*this, K);
  const int64_t block = n / columns * divide_up(K, D) + k / D;
  const int64_t group = k % D / neighbours * columns + n % columns;
  return block * D * columns + group * neighbours + k % neighbours;
}

const graph::OpDefinition kPackWeight{
    .name = "pack_weight", .inputs = {"weight"}, .infer = infer_pack};
const graph::OpDefinition kPackedLinear{.name = "packed_linear",
                                        .inputs = {"x", "packed weight or bias"},
                                        .repeats_last_input = true,
                                        .infer = infer,
                                        .flops = flops};

}  // namespace cloze::ops
