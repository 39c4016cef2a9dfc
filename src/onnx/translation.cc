#include "onnx/translation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "onnx/operators.h"
#include "ops/linear.h"

namespace cloze::onnx {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

// The parameters that are not just the weight of a product.
std::set<Value> shared_parameters(const Graph& model) {
  std::set<Value> shared;
  for (const Node& node : model.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.op != &ops::kLinear || i != ops::Linear::kWeight) shared.insert(node.inputs[i]);
    }
  }
  return shared;
}

// Rows of a matrix as columns: values [rows, columns] -> bytes [columns, rows].
void write_transposed(std::span<const float> values, size_t rows, std::span<std::byte> bytes) {
  const size_t columns = values.size() / rows;
  std::byte* target = bytes.data();
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows; ++row, target += sizeof(float)) {
      std::memcpy(target, &values[row * columns + column], sizeof(float));
    }
  }
}

}  // namespace

Translation::Translation(const Graph& model, ReadParameter read, bool has_choices)
    : model_(model), read_(std::move(read)), shared_(shared_parameters(model)) {
  for (const Node& node : model.nodes()) {
    for (const Value output : node.outputs) makers_.emplace(output, &node);
  }
  names_.emplace(*model.find("input_ids"), batch_input("input_ids", has_choices));
  attention_mask_ = batch_input("attention_mask", has_choices);
  names_.emplace(*model.find("token_type_ids"), batch_input("token_type_ids", has_choices));
  score_mask_ = make_score_mask();
}

// The choices of all rows are sequences of one batch.
std::string Translation::batch_input(const char* name, bool has_choices) {
  formats::OnnxValue input{.name = name, .dtype = DType::kI64};
  input.axes.push_back({.name = "batch_size"});
  if (has_choices) input.axes.push_back({.name = "num_choices"});
  input.axes.push_back({.name = "sequence_length"});
  onnx_.add_input(input);
  if (!has_choices) return name;
  const std::string shape = onnx_.add("Shape", {name});
  if (num_choices_.empty()) num_choices_ = onnx_.add("Gather", {shape, onnx_.integers({1})});
  const std::string length = onnx_.add("Gather", {shape, onnx_.integers({2})});
  const std::string rows =
      onnx_.add("Concat", {onnx_.integers({-1}), length}, {{"axis", int64_t{0}}});
  return onnx_.add("Reshape", {name, rows});
}

std::string Translation::make_score_mask() {
  const std::string heads = onnx_.add("Unsqueeze", {attention_mask_, onnx_.integers({1})});
  const std::string queries = onnx_.add("Unsqueeze", {heads, onnx_.integers({2})});
  const std::string kept = onnx_.add("Cast", {queries}, {{"to", int64_t{1}}});
  const std::string masked = onnx_.add("Sub", {onnx_.number(1.0f), kept});
  return onnx_.add("Mul", {masked, onnx_.number(kLowest)});
}

std::string Translation::token_mask() {
  const std::string kept = onnx_.add("Cast", {attention_mask_}, {{"to", int64_t{1}}});
  return onnx_.add("Unsqueeze", {kept, onnx_.integers({2})});
}

std::string Translation::translated(Value value) {
  std::vector<const Node*> needed;
  std::set<Value> seen;
  const std::function<void(Value)> visit = [&](Value wanted) {
    const auto maker = makers_.find(wanted);
    if (maker == makers_.end() || names_.contains(wanted) || !seen.insert(wanted).second) return;
    for (const Value input : maker->second->inputs) visit(input);
    needed.push_back(maker->second);
  };
  visit(value);
  for (const Node* node : needed) translate(*node);
  return names_.at(value);
}

void Translation::translate(const Node& node) {
  onnx_.enter(node.module);
  names_.emplace(node.outputs.front(), translation_of(*node.op)(*this, node));
}

std::string Translation::input(const Node& node, size_t input) {
  const Value value = node.inputs.at(input);
  if (const auto named = names_.find(value); named != names_.end()) return named->second;
  return parameter(value);
}

int64_t Translation::width(const Node& node, size_t input) const {
  return model_.type(node.inputs.at(input)).shape[-1];
}

bool Translation::is_input(const Node& node, size_t input, std::string_view name) const {
  return model_.find(name) == node.inputs.at(input);
}

std::string Translation::parameter(Value value) {
  const graph::ValueInfo& info = model_.info(value);
  CLOZE_CHECK(info.kind == graph::ValueKind::kVariable, "{} is no parameter", info.name);
  const auto read = [name = info.name, read = read_](std::span<std::byte> bytes) {
    read(name, {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
  };
  return onnx_.tensor({.name = info.name, .shape = info.type.shape, .read = read});
}

std::string Translation::transposed(Value weight) {
  if (shared_.contains(weight)) {
    return onnx_.add("Transpose", {parameter(weight)}, {{"perm", std::vector<int64_t>{1, 0}}});
  }
  const graph::ValueInfo& info = model_.info(weight);
  const Shape& shape = info.type.shape;
  const auto read = [name = info.name, rows = static_cast<size_t>(shape[0]),
                     read = read_](std::span<std::byte> bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    read(name, values);
    write_transposed(values, rows, bytes);
  };
  return onnx_.tensor(
      {.name = info.name + "_transposed", .shape = {shape[1], shape[0]}, .read = read});
}

}  // namespace cloze::onnx
