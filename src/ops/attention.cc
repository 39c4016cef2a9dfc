#include "ops/attention.h"

#include <algorithm>

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  const int64_t heads = std::any_cast<const AttentionAttributes&>(attributes).num_heads;
  const TensorType& q = in[Attention::kQ];
  expect_type(kAttention, in, Attention::kK, q);
  expect_type(kAttention, in, Attention::kV, q);
  CLOZE_CHECK(q.shape[1] % heads == 0, "attention: H {} over {} heads", q.shape[1], heads);
  return {q, {DType::kF32, {q.shape[0], heads}}};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  using Gradient = AttentionGradient;
  const TensorType& q = in[Gradient::kQ];
  for (const auto input : {Gradient::kDcontext, Gradient::kK, Gradient::kV, Gradient::kContext}) {
    expect_type(kAttentionGradient, in, input, q);
  }
  return {q, q, q};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const std::vector<Value>& out = request.node.outputs;
  std::vector<Value> result = graph.add(
      kAttentionGradient,
      {request.output_gradients[Attention::kContext], in[Attention::kQ], in[Attention::kK],
       in[Attention::kV], out[Attention::kContext], out[Attention::kLogSumExp],
       in[Attention::kSequenceStarts], in[Attention::kSampleIds], in[Attention::kRandomKey]},
      request.node.attributes);
  result.resize(in.size());
  return result;
}

}  // namespace

int64_t longest_length(int64_t T, const AttentionAttributes& attributes) {
  return std::min(T, attributes.max_length);
}

void check_lengths(std::span<const int32_t> sequence_starts, int64_t longest) {
  for (size_t b = 0; b + 1 < sequence_starts.size(); ++b) {
    const int64_t length = sequence_starts[b + 1] - sequence_starts[b];
    CLOZE_CHECK(length >= 0 && length <= longest,
                "attention: sequence {} has {} slots, and the work buffers room for {}", b, length,
                longest);
  }
}

const graph::OpDefinition kAttention{
    .name = "attention",
    .inputs = {"q", "k", "v", "sequence_starts", "sample_ids", "random_key"},
    .infer = infer,
    .differentiate = differentiate};
const graph::OpDefinition kAttentionGradient{
    .name = "attention_gradient",
    .inputs = {"dcontext", "q", "k", "v", "context", "log_sum_exp", "sequence_starts", "sample_ids",
               "random_key"},
    .infer = infer_gradient};

Value attention(Graph& graph, const AttentionInputs& in, const RandomInputs& random,
                AttentionAttributes attributes) {
  attributes.site = graph.next_random_site();
  return graph.add(kAttention,
                   {in.q, in.k, in.v, in.sequence_starts, random.sample_ids, random.random_key},
                   attributes)[Attention::kContext];
}

}  // namespace cloze::ops
