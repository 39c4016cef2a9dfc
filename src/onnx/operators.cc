#include "onnx/operators.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "ops/attention.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/pooling.h"
#include "ops/tanh.h"

namespace cloze::onnx {
namespace {

using formats::OnnxAttributes;
using graph::Node;
using Axes = std::vector<int64_t>;

// The first positions of the table, as many as a row has tokens: [1, sequence_length].
std::string positions(Translation& to, const std::string& input_ids, int64_t most) {
  GraphBuilder& onnx = to.onnx();
  const auto read = [](std::span<std::byte> bytes) {
    const std::span numbers(reinterpret_cast<int64_t*>(bytes.data()), bytes.size() / 8);
    std::iota(numbers.begin(), numbers.end(), 0);
  };
  const std::string all =
      onnx.tensor({.name = "position_ids", .dtype = DType::kI64, .shape = {1, most}, .read = read});
  const std::string shape = onnx.add("Shape", {input_ids});
  const std::string length = onnx.add("Gather", {shape, onnx.integer(1)});
  const std::string end = onnx.add("Unsqueeze", {length, onnx.integers({0})});
  return onnx.add("Slice", {all, onnx.integers({0}), end, onnx.integers({1})});
}

std::string embedding(Translation& to, const Node& node) {
  using E = ops::Embedding;
  GraphBuilder& onnx = to.onnx();
  const std::string ids = to.input(node, E::kInputIds);
  const int64_t most = to.model().type(node.inputs[E::kPosition]).shape[0];
  const std::string words = onnx.add("Gather", {to.input(node, E::kWord), ids});
  const std::string types =
      onnx.add("Gather", {to.input(node, E::kTokenType), to.input(node, E::kTokenTypeIds)});
  const std::string places =
      onnx.add("Gather", {to.input(node, E::kPosition), positions(to, ids, most)});
  return onnx.add("Add", {onnx.add("Add", {words, types}), places});
}

std::string linear(Translation& to, const Node& node) {
  using L = ops::Linear;
  CLOZE_CHECK(!std::any_cast<const ops::LinearAttributes&>(node.attributes).activation,
              "a pass joined {} with its activation", node.module);
  GraphBuilder& onnx = to.onnx();
  const std::string x = to.input(node, L::kX);
  const std::string product = onnx.add("MatMul", {x, to.transposed(node.inputs[L::kWeight])});
  if (node.inputs.size() <= L::kBias) return product;
  return onnx.add("Add", {product, to.input(node, L::kBias)});
}

std::string gelu_erf(GraphBuilder& onnx, const std::string& x) {
  const std::string scaled = onnx.add("Div", {x, onnx.number(std::numbers::sqrt2_v<float>)});
  const std::string sum = onnx.add("Add", {onnx.add("Erf", {scaled}), onnx.number(1.0f)});
  return onnx.add("Mul", {onnx.add("Mul", {x, sum}), onnx.number(0.5f)});
}

std::string gelu_tanh(GraphBuilder& onnx, const std::string& x) {
  const auto rate = static_cast<float>(std::sqrt(2.0 / std::numbers::pi));
  const std::string cube = onnx.add("Pow", {x, onnx.number(3.0f)});
  const std::string inner = onnx.add("Add", {x, onnx.add("Mul", {cube, onnx.number(0.044715f)})});
  const std::string tanh = onnx.add("Tanh", {onnx.add("Mul", {inner, onnx.number(rate)})});
  const std::string sum = onnx.add("Add", {tanh, onnx.number(1.0f)});
  return onnx.add("Mul", {onnx.add("Mul", {x, onnx.number(0.5f)}), sum});
}

std::string gelu(Translation& to, const Node& node) {
  const auto form = std::any_cast<const ops::GeluAttributes&>(node.attributes).form;
  const std::string x = to.input(node, ops::Gelu::kX);
  return form == ops::GeluForm::kErf ? gelu_erf(to.onnx(), x) : gelu_tanh(to.onnx(), x);
}

std::string layer_norm(Translation& to, const std::string& x, const std::string& gamma,
                       const std::string& beta, double epsilon) {
  return to.onnx().add("LayerNormalization", {x, gamma, beta},
                       {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(epsilon)}});
}

std::string plain_norm(Translation& to, const Node& node) {
  using N = ops::LayerNorm;
  return layer_norm(to, to.input(node, N::kX), to.input(node, N::kGamma), to.input(node, N::kBeta),
                    std::any_cast<const ops::LayerNormAttributes&>(node.attributes).epsilon);
}

std::string residual_norm(Translation& to, const Node& node) {
  using N = ops::DropoutAddLayerNorm;
  const auto& attributes =
      std::any_cast<const ops::DropoutAddLayerNormAttributes&>(node.attributes);
  CLOZE_CHECK(attributes.rate == 0.0, "{} drops values", node.module);
  const std::string sum =
      to.onnx().add("Add", {to.input(node, N::kX), to.input(node, N::kResidual)});
  return layer_norm(to, sum, to.input(node, N::kGamma), to.input(node, N::kBeta),
                    attributes.epsilon);
}

// [batch_size, sequence_length, H] -> [batch_size, N, ...], its last two axes in the order given.
std::string heads_of(GraphBuilder& onnx, const std::string& x, const Axes& cut, const Axes& order) {
  const std::string heads = onnx.add("Reshape", {x, onnx.integers(cut)});
  return onnx.add("Transpose", {heads}, {{"perm", order}});
}

std::string attention(Translation& to, const Node& node) {
  using A = ops::Attention;
  const auto& attributes = std::any_cast<const ops::AttentionAttributes&>(node.attributes);
  CLOZE_CHECK(attributes.rate == 0.0, "{} drops probabilities", node.module);
  const int64_t hidden = to.width(node, A::kQ);
  const int64_t size = hidden / attributes.num_heads;
  const Axes cut{0, 0, attributes.num_heads, size};
  const Axes rows{0, 2, 1, 3}, columns{0, 2, 3, 1};
  GraphBuilder& onnx = to.onnx();
  const std::string q = heads_of(onnx, to.input(node, A::kQ), cut, rows);
  const std::string k = heads_of(onnx, to.input(node, A::kK), cut, columns);
  const std::string v = heads_of(onnx, to.input(node, A::kV), cut, rows);
  const std::string scores = onnx.add("MatMul", {q, k});
  const std::string scaled =
      onnx.add("Div", {scores, onnx.number(std::sqrt(static_cast<float>(size)))});
  const std::string masked = onnx.add("Add", {scaled, to.score_mask()});
  const std::string shares = onnx.add("Softmax", {masked}, {{"axis", int64_t{-1}}});
  const std::string context = onnx.add("MatMul", {shares, v});
  const std::string joined = onnx.add("Transpose", {context}, {{"perm", rows}});
  return onnx.add("Reshape", {joined, onnx.integers({0, 0, hidden})});
}

std::string gather_rows(Translation& to, const Node& node) {
  using G = ops::GatherRows;
  const std::string x = to.input(node, G::kX);
  if (to.is_input(node, G::kIndex, "masked_positions")) return x;
  CLOZE_CHECK(to.is_input(node, G::kIndex, "first_tokens"), "{} gathers others", node.module);
  return to.onnx().add("Gather", {x, to.onnx().integer(0)}, {{"axis", int64_t{1}}});
}

std::string tanh(Translation& to, const Node& node) {
  return to.onnx().add("Tanh", {to.input(node, ops::Tanh::kX)});
}

struct Row {
  const graph::OpDefinition* op;
  TranslateOperator translate;
};

const Row kRows[] = {
    {&ops::kEmbedding, embedding},
    {&ops::kLinear, linear},
    {&ops::kGelu, gelu},
    {&ops::kLayerNorm, plain_norm},
    {&ops::kDropoutAddLayerNorm, residual_norm},
    {&ops::kAttention, attention},
    {&ops::kGatherRows, gather_rows},
    {&ops::kTanh, tanh},
    {&ops::kPoolSequences, pool_sequences},
    {&ops::kNormalizeRows, normalize_rows},
};

}  // namespace

TranslateOperator translation_of(const graph::OpDefinition& op) {
  const Row* const row = std::ranges::find(kRows, &op, &Row::op);
  CLOZE_CHECK(row != std::end(kRows), "{} has no form in ONNX here", op.name);
  return row->translate;
}

}  // namespace cloze::onnx
