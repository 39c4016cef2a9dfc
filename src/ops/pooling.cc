#include "ops/pooling.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

// The type of y of both forward operators, from that of x and its rows.
TensorType rows_in_f32(int64_t rows, int64_t columns) { return {DType::kF32, {rows, columns}}; }

// y, where x is the input of that number and sequence_starts the next.
TensorType pooled_type(const graph::OpDefinition& op, std::span<const TensorType> in, size_t x,
                       const std::any& attributes) {
  const auto modes = std::any_cast<const PoolingAttributes&>(attributes).modes.size();
  CLOZE_CHECK(modes > 0 && modes <= kMostPoolingModes, "{}: {} modes, expected 1 to {}", op.name,
              modes, kMostPoolingModes);
  CLOZE_CHECK(in[x].shape.rank() == 2, "{}: x is {}, expected [T, H]", op.name, in[x].to_string());
  const int64_t starts = in[x + 1].shape[0];
  expect_type(op, in, x + 1, {DType::kI32, {starts}});
  return rows_in_f32(starts - 1, static_cast<int64_t>(modes) * in[x].shape[1]);
}

std::vector<TensorType> infer_pooled(std::span<const TensorType> in, const std::any& attributes) {
  return {pooled_type(kPoolSequences, in, PoolSequences::kX, attributes)};
}

std::vector<TensorType> infer_pooled_gradient(std::span<const TensorType> in,
                                              const std::any& attributes) {
  using Op = PoolSequencesGradient;
  const TensorType y = pooled_type(kPoolSequencesGradient, in, Op::kX, attributes);
  expect_type(kPoolSequencesGradient, in, Op::kDy, y);
  return {in[Op::kX]};
}

std::vector<Value> differentiate_pooled(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  return {graph.add_one(kPoolSequencesGradient,
                        {request.output_gradients[0], in[PoolSequences::kX],
                         in[PoolSequences::kSequenceStarts]},
                        request.node.attributes),
          {}};
}

std::vector<TensorType> infer_normal(std::span<const TensorType> in, const std::any&) {
  const TensorType& x = in[NormalizeRows::kX];
  CLOZE_CHECK(x.shape.rank() == 2, "{}: x is {}, expected [R, C]", kNormalizeRows.name,
              x.to_string());
  return {rows_in_f32(x.shape[0], x.shape[1])};
}

std::vector<TensorType> infer_normal_gradient(std::span<const TensorType> in, const std::any&) {
  using Op = NormalizeRowsGradient;
  const TensorType& x = in[Op::kX];
  expect_type(kNormalizeRowsGradient, in, Op::kDy, rows_in_f32(x.shape[0], x.shape[1]));
  return {x};
}

}  // namespace

const graph::OpDefinition kPoolSequences{.name = "pool_sequences",
                                         .inputs = {"x", "sequence_starts"},
                                         .infer = infer_pooled,
                                         .differentiate = differentiate_pooled};
const graph::OpDefinition kPoolSequencesGradient{.name = "pool_sequences_gradient",
                                                 .inputs = {"dy", "x", "sequence_starts"},
                                                 .infer = infer_pooled_gradient};
const graph::OpDefinition kNormalizeRows{
    .name = "normalize_rows",
    .inputs = {"x"},
    .infer = infer_normal,
    .differentiate = differentiate_by_input<kNormalizeRowsGradient>};
const graph::OpDefinition kNormalizeRowsGradient{
    .name = "normalize_rows_gradient", .inputs = {"dy", "x"}, .infer = infer_normal_gradient};

Value pool_sequences(Graph& graph, Value x, Value sequence_starts,
                     const std::vector<PoolingMode>& modes) {
  return graph.add_one(kPoolSequences, {x, sequence_starts}, PoolingAttributes{modes});
}

Value normalize_rows(Graph& graph, Value x) { return graph.add_one(kNormalizeRows, {x}); }

}  // namespace cloze::ops
