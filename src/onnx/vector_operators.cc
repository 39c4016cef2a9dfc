#include "onnx/operators.h"
#include "ops/pooling.h"

namespace cloze::onnx {
namespace {

using graph::Node;
using ops::PoolingMode;

constexpr float kLeastCount = 1e-9f;  // that a sum is divided by, where a row is all padding

// The hidden states to be pooled, and which of them are of tokens.
struct Tokens {
  GraphBuilder& onnx;
  std::string states;  // [batch_size, sequence_length, H]
  std::string mask;    // [batch_size, sequence_length, 1]: 1 or 0

  std::string sum(const std::string& x) const {
    return onnx.add("ReduceSum", {x, onnx.integers({1})}, {{"keepdims", int64_t{0}}});
  }
  std::string weighted_sum(const std::string& weights) const {
    return sum(onnx.add("Mul", {states, weights}));
  }
  // The number of each token in its sequence, from 1 on.
  std::string ranks() const { return onnx.add("CumSum", {mask, onnx.integer(1)}); }
  std::string divided(const std::string& x, const std::string& divisor) const {
    return onnx.add("Div", {x, onnx.add("Max", {divisor, onnx.number(kLeastCount)})});
  }
};

std::string weighted_mean(const Tokens& tokens) {
  const std::string weights = tokens.onnx.add("Mul", {tokens.ranks(), tokens.mask});
  return tokens.divided(tokens.weighted_sum(weights), tokens.sum(weights));
}

// The only token that no other follows has the rank of all.
std::string last(const Tokens& tokens) {
  GraphBuilder& onnx = tokens.onnx;
  const std::string count = onnx.add("ReduceSum", {tokens.mask, onnx.integers({1})});
  const std::string has_all = onnx.add("Equal", {tokens.ranks(), count});
  const std::string is_last = onnx.add("Cast", {has_all}, {{"to", int64_t{1}}});
  return tokens.weighted_sum(onnx.add("Mul", {is_last, tokens.mask}));
}

std::string largest(const Tokens& tokens) {
  GraphBuilder& onnx = tokens.onnx;
  const std::string padding = onnx.add("Sub", {onnx.number(1.0f), tokens.mask});
  const std::string lowered = onnx.add("Mul", {padding, onnx.number(kLowest)});
  return onnx.add("ReduceMax", {onnx.add("Add", {tokens.states, lowered})},
                  {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
}

std::string pooled(const Tokens& tokens, PoolingMode mode) {
  GraphBuilder& onnx = tokens.onnx;
  switch (mode) {
    case PoolingMode::kFirst:
      return onnx.add("Gather", {tokens.states, onnx.integer(0)}, {{"axis", int64_t{1}}});
    case PoolingMode::kMean:
      return tokens.divided(tokens.weighted_sum(tokens.mask), tokens.sum(tokens.mask));
    case PoolingMode::kMeanSqrtLength:
      return tokens.divided(tokens.weighted_sum(tokens.mask),
                            onnx.add("Sqrt", {tokens.sum(tokens.mask)}));
    case PoolingMode::kWeightedMean:
      return weighted_mean(tokens);
    case PoolingMode::kLast:
      return last(tokens);
    case PoolingMode::kMax:
      return largest(tokens);
  }
  return {};
}

}  // namespace

std::string pool_sequences(Translation& to, const Node& node) {
  const Tokens tokens{to.onnx(), to.input(node, ops::PoolSequences::kX), to.token_mask()};
  std::vector<std::string> vectors;
  for (const PoolingMode mode :
       std::any_cast<const ops::PoolingAttributes&>(node.attributes).modes) {
    vectors.push_back(pooled(tokens, mode));
  }
  if (vectors.size() == 1) return vectors.front();
  return to.onnx().add("Concat", vectors, {{"axis", int64_t{-1}}});
}

std::string normalize_rows(Translation& to, const Node& node) {
  GraphBuilder& onnx = to.onnx();
  const std::string x = to.input(node, ops::NormalizeRows::kX);
  const std::string norm = onnx.add("ReduceL2", {x}, {{"axes", std::vector<int64_t>{-1}}});
  const std::string divisor =
      onnx.add("Max", {norm, onnx.number(static_cast<float>(ops::kLeastNorm))});
  return onnx.add("Div", {x, divisor});
}

}  // namespace cloze::onnx
