#include "ops/attention.h"

#include "ops/type_check.h"

namespace cloze::ops {
namespace {

using graph::GradientRequest;
using graph::Graph;
using graph::Value;

std::vector<TensorType> infer(std::span<const TensorType> in, const std::any& attributes) {
  expect_inputs("attention", in, 6, 6);
  const int64_t heads = std::any_cast<const AttentionAttributes&>(attributes).num_heads;
  expect_type("attention", "k", in[1], in[0]);
  expect_type("attention", "v", in[2], in[0]);
  CLOZE_CHECK(in[0].shape[1] % heads == 0, "attention: H {} over {} heads", in[0].shape[1], heads);
  return {in[0], {DType::kF32, {in[0].shape[0], heads}}};
}

std::vector<TensorType> infer_gradient(std::span<const TensorType> in, const std::any&) {
  expect_inputs("attention_gradient", in, 9, 9);
  for (const int i : {0, 2, 3, 4}) expect_type("attention_gradient", "input", in[i], in[1]);
  return {in[1], in[1], in[1]};
}

std::vector<Value> differentiate(Graph& graph, const GradientRequest& request) {
  const std::vector<Value>& in = request.node.inputs;
  const std::vector<Value>& out = request.node.outputs;
  const std::vector<Value> gradients = graph.add(
      kAttentionGradient,
      {request.output_gradients[0], in[0], in[1], in[2], out[0], out[1], in[3], in[4], in[5]},
      request.node.attributes);
  return {gradients[0], gradients[1], gradients[2], {}, {}, {}};
}

}  // namespace

const graph::OpDefinition kAttention{
    .name = "attention", .infer = infer, .differentiate = differentiate};
const graph::OpDefinition kAttentionGradient{.name = "attention_gradient", .infer = infer_gradient};

Value attention(Graph& graph, const AttentionInputs& in, const RandomInputs& random,
                int64_t num_heads, double rate) {
  return graph.add(kAttention,
                   {in.q, in.k, in.v, in.sequence_starts, random.sample_ids, random.random_key},
                   AttentionAttributes{num_heads, rate, graph.next_random_site()})[0];
}

}  // namespace cloze::ops
