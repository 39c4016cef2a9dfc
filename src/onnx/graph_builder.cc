#include "onnx/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cloze::onnx {
namespace {

using formats::OnnxNode;
using formats::OnnxTensor;
using formats::OnnxValue;

// Returns a function that writes these values as a tensor's bytes.
template <typename T>
auto stored(std::vector<T> values) {
  return [values = std::move(values)](std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  };
}

}  // namespace

void GraphBuilder::enter(std::string_view module) {
  module_ = module.empty() ? "" : fmt::format("/{}", module);
  std::ranges::replace(module_, '.', '/');
}

std::string GraphBuilder::add(std::string_view op_type, std::vector<std::string> inputs,
                              formats::OnnxAttributes attributes) {
  std::string name = fmt::format("{}/{}", module_, op_type);
  if (const int uses = uses_[name]++; uses > 0) name += fmt::format("_{}", uses);
  graph_.nodes.push_back({.name = name,
                          .op_type = std::string(op_type),
                          .inputs = std::move(inputs),
                          .output = name,
                          .attributes = std::move(attributes)});
  return name;
}

std::string GraphBuilder::number(float value) {
  return tensor({.name = fmt::format("number_{}", value), .read = stored(std::vector{value})});
}

std::string GraphBuilder::integer(int64_t value) {
  return tensor({.name = fmt::format("integer_{}", value),
                 .dtype = DType::kI64,
                 .read = stored(std::vector{value})});
}

std::string GraphBuilder::integers(const std::vector<int64_t>& values) {
  return tensor({.name = fmt::format("integers_{}", fmt::join(values, "_")),
                 .dtype = DType::kI64,
                 .shape = {std::ssize(values)},
                 .read = stored(values)});
}

std::string GraphBuilder::tensor(OnnxTensor tensor) {
  std::string name = tensor.name;
  if (tensors_.insert(name).second) graph_.tensors.push_back(std::move(tensor));
  return name;
}

void GraphBuilder::add_input(OnnxValue input) { graph_.inputs.push_back(std::move(input)); }

void GraphBuilder::add_output(const std::string& value, OnnxValue output) {
  outputs_.emplace(value, output.name);
  graph_.outputs.push_back(std::move(output));
}

formats::OnnxGraph GraphBuilder::take() && {
  const auto rename = [&](std::string& value) {
    if (const auto output = outputs_.find(value); output != outputs_.end()) value = output->second;
  };
  for (OnnxNode& node : graph_.nodes) {
    rename(node.output);
    std::ranges::for_each(node.inputs, rename);
  }
  return std::move(graph_);
}

}  // namespace cloze::onnx
