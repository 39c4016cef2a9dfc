#include "passes/differentiate.h"

#include <algorithm>

#include "base/error.h"
#include "ops/elementwise.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;
using graph::VariableRole;

class Differentiator {
 public:
  Differentiator(Graph& graph, const std::vector<Value>& fixed)
      : graph_(graph), num_forward_nodes_(graph.nodes().size()) {
    find_differentiable_values(fixed);
    gradients_.resize(graph.num_values());
  }

  void run(const std::vector<GivenGradient>& given) {
    for (const auto& [value, gradient] : given) {
      CLOZE_CHECK(graph_.type(value) == graph_.type(gradient), "a gradient {} of {}",
                  graph_.type(gradient).to_string(), graph_.type(value).to_string());
      gradients_[value.index] = gradient;
    }
    for (size_t i = num_forward_nodes_; i-- > 0;) differentiate_node(i);
  }

 private:
  void find_differentiable_values(const std::vector<Value>& fixed) {
    differentiable_.resize(graph_.num_values());
    for (int32_t i = 0; i < graph_.num_values(); ++i) {
      const ValueInfo& info = graph_.info({i});
      differentiable_[i] =
          info.kind == ValueKind::kVariable && info.role == VariableRole::kParameter;
    }
    for (const Value parameter : fixed) differentiable_[parameter.index] = false;
    for (const Node& node : graph_.nodes()) {
      const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](Value input) { return differentiable_[input.index]; });
      for (const Value output : node.outputs) differentiable_[output.index] = any;
    }
  }

  void differentiate_node(size_t index) {
    const Node node = graph_.nodes()[index];  // a copy: the rule appends to the vector
    std::vector<Value> output_gradients;
    for (const Value output : node.outputs) output_gradients.push_back(gradients_[output.index]);
    if (std::none_of(output_gradients.begin(), output_gradients.end(),
                     [](Value gradient) { return gradient.valid(); })) {
      return;
    }
    CLOZE_CHECK(node.op->differentiate != nullptr, "{} has no gradient rule", node.name());
    std::vector<bool> wanted;
    for (const Value input : node.inputs) wanted.push_back(differentiable_[input.index]);

    const auto scope = graph_.scope_of(node);
    const std::vector<Value> input_gradients =
        node.op->differentiate(graph_, {node, output_gradients, wanted});
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (wanted[i] && input_gradients[i].valid()) add_gradient(node.inputs[i], input_gradients[i]);
    }
  }

  void add_gradient(Value value, Value gradient) {
    if (graph_.info(value).kind == ValueKind::kVariable) {
      graph_.add_into(ops::kAccumulate, {gradient}, {}, {{gradient_variable(value), true}});
      return;
    }
    Value& sum = gradients_[value.index];
    sum = sum.valid() ? graph_.add_one(ops::kAdd, {sum, gradient}) : gradient;
  }

  Value gradient_variable(Value parameter) {
    const std::string name = "gradient." + graph_.info(parameter).name;
    if (const auto existing = graph_.find(name)) return *existing;
    return graph_.add_variable({.name = name,
                                .type = graph_.type(parameter),
                                .role = VariableRole::kGradient,
                                .master = parameter});
  }

  Graph& graph_;
  size_t num_forward_nodes_;
  std::vector<bool> differentiable_;  // by value: does a parameter that is not fixed flow into it
  std::vector<Value> gradients_;      // by forward value
};

}  // namespace

void differentiate(Graph& graph, const std::vector<GivenGradient>& given,
                   const std::vector<Value>& fixed) {
  Differentiator(graph, fixed).run(given);
}

}  // namespace cloze::passes
