#include "ops/embedding.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using enum Embedding::Input;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  const int64_t hidden = in[kWord].shape[1];
  for (const auto ids : {kTokenTypeIds, kPositionIds}) {
    expect_type(kEmbedding, in, ids, in[kInputIds]);
  }
  for (const auto table : {kWord, kTokenType, kPosition}) {
    expect_type(kEmbedding, in, table, {DType::kF32, {in[table].shape[0], hidden}});
  }
  const DType dtype = std::any_cast<const EmbeddingAttributes&>(attributes).output_dtype;
  return {{dtype, {in[kInputIds].shape[0], hidden}}};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any& attributes) {
  const auto& tables = std::any_cast<const EmbeddingGradientAttributes&>(attributes);
  const int64_t hidden = in[EmbeddingGradient::kDy].shape[1];
  return {{DType::kF32, {tables.vocabulary, hidden}},
          {DType::kF32, {tables.types, hidden}},
          {DType::kF32, {tables.positions, hidden}}};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const EmbeddingGradientAttributes tables{.vocabulary = graph.type(in[kWord]).shape[0],
                                           .types = graph.type(in[kTokenType]).shape[0],
                                           .positions = graph.type(in[kPosition]).shape[0]};
  const std::vector<Value> gradients =
      graph.add(kEmbeddingGradient,
                {request.output_gradients[0], in[kInputIds], in[kTokenTypeIds], in[kPositionIds],
                 in[kSequenceStarts]},
                tables);
  return {{}, {}, {}, gradients[0], gradients[1], gradients[2], {}};
}

}  // namespace

const graph::OpDefinition kEmbedding{
    .name = "embedding",
    .inputs = {"input_ids", "token_type_ids", "position_ids", "word", "token_type", "position",
               "sequence_starts"},
    .infer = infer,
    .differentiate = differentiate};
const graph::OpDefinition kEmbeddingGradient{
    .name = "embedding_gradient",
    .inputs = {"dy", "input_ids", "token_type_ids", "position_ids", "sequence_starts"},
    .infer = infer_gradient,
    .accumulable_outputs = {EmbeddingGradient::kDword, EmbeddingGradient::kDtokenType,
                            EmbeddingGradient::kDposition}};

Value embedding(Graph& graph, const EmbeddingInputs& in) {
  return graph.add_one(kEmbedding,
                       {in.input_ids, in.token_type_ids, in.position_ids, in.word, in.token_type,
                        in.position, in.sequence_starts},
                       EmbeddingAttributes{});
}

}  // namespace cloze::ops
