#include "graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace cloze::graph {
namespace {

std::string describe(const Graph& graph, const std::vector<Value>& values) {
  std::vector<std::string> parts;
  for (const Value value : values) {
    const ValueInfo& info = graph.info(value);
    parts.push_back(fmt::format("{}: {}", info.name, info.type.to_string()));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string within(const std::string& module, std::string_view name) {
  return module.empty() ? std::string(name) : fmt::format("{}.{}", module, name);
}

// Takes the nodes in order and keeps track of which values are defined so far, and where.
class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), phase_of_(static_cast<size_t>(graph.num_values())) {}

  void check(const Node& node) {
    for (const Value input : node.inputs) check_input(node, input);
    check_types(node);
    CLOZE_CHECK(node.accumulates.size() == node.outputs.size(),
                "{}: {} outputs, of which {} are said to accumulate or not", node.name(),
                node.outputs.size(), node.accumulates.size());
    for (size_t i = 0; i < node.outputs.size(); ++i) check_output(node, i);
  }

 private:
  bool is_intermediate(Value value) const {
    return graph_.info(value).kind == ValueKind::kIntermediate;
  }

  void check_input(const Node& node, Value input) const {
    CLOZE_CHECK(input.valid(), "{} uses an invalid value before it is defined", node.name());
    if (!is_intermediate(input)) return;
    const std::string& name = graph_.info(input).name;
    const std::optional<Phase>& phase = phase_of(input);
    CLOZE_CHECK(phase.has_value(), "{} uses {} before it is defined", node.name(), name);
    CLOZE_CHECK(*phase == node.phase, "{} uses {} in phase {}, but it lives in phase {}",
                node.name(), name, phase_name(node.phase), phase_name(*phase));
  }

  void check_types(const Node& node) const {
    const std::vector<TensorType> expected =
        infer_types(*node.op, graph_.types(node.inputs), node.attributes);
    CLOZE_CHECK(expected == graph_.types(node.outputs),
                "{}: the outputs do not have the types its rule gives", node.name());
  }

  void check_output(const Node& node, size_t i) {
    const Value output = node.outputs[i];
    const ValueInfo& info = graph_.info(output);
    if (node.accumulates[i]) {
      const bool may = std::ranges::count(node.op->accumulable_outputs, static_cast<int>(i)) > 0;
      CLOZE_CHECK(may && info.kind == ValueKind::kVariable, "{}: output {} cannot be added to {}",
                  node.name(), i, info.name);
    }
    CLOZE_CHECK(info.kind != ValueKind::kInput && !phase_of(output), "{} writes {} again",
                node.name(), info.name);
    if (is_intermediate(output)) phase_of(output) = node.phase;
  }

  std::optional<Phase>& phase_of(Value value) {
    return phase_of_[static_cast<size_t>(value.index)];
  }
  const std::optional<Phase>& phase_of(Value value) const {
    return phase_of_[static_cast<size_t>(value.index)];
  }
  const std::string& phase_name(Phase phase) const {
    return graph_.phases()[static_cast<size_t>(phase.index)];
  }

  const Graph& graph_;
  std::vector<std::optional<Phase>> phase_of_;  // of intermediates, once they are defined
};

}  // namespace

std::string Node::name() const { return within(module, op->name); }

std::vector<Value> Node::written() const {
  std::vector<Value> values = outputs;
  for (const int input : op->mutated_inputs) values.push_back(inputs[static_cast<size_t>(input)]);
  return values;
}

Graph::Scope::Scope(Graph& graph, Place place)
    : graph_(graph), outer_(std::exchange(graph.place_, std::move(place))) {}

Graph::Scope::~Scope() { graph_.place_ = std::move(outer_); }

Graph::Scope Graph::scope(std::string_view name) { return layer_scope(name, place_.layer); }

Graph::Scope Graph::layer_scope(std::string_view name, int32_t layer) {
  return {*this, {within(place_.module, name), layer, place_.phase}};
}

Graph::Scope Graph::scope_of(const Node& node) {
  return {*this, {node.module, node.layer, node.phase}};
}

Graph::Scope Graph::phase_scope(std::string_view phase) {
  if (!find_phase(phase)) phases_.emplace_back(phase);
  return {*this, {.phase = *find_phase(phase)}};
}

std::optional<Phase> Graph::find_phase(std::string_view name) const {
  const auto found = std::find(phases_.begin(), phases_.end(), name);
  if (found == phases_.end()) return std::nullopt;
  return Phase{static_cast<int32_t>(found - phases_.begin())};
}

std::vector<const Node*> Graph::nodes_of(std::string_view phase) const {
  const std::optional<Phase> wanted = find_phase(phase);
  std::vector<const Node*> nodes;
  for (const Node& node : nodes_) {
    if (wanted && node.phase.index == wanted->index) nodes.push_back(&node);
  }
  return nodes;
}

Value Graph::new_value(ValueInfo info) {
  values_.push_back(std::move(info));
  return Value{static_cast<int32_t>(values_.size() - 1)};
}

Value Graph::new_intermediate(TensorType type) {
  return new_value({.name = fmt::format("%{}", values_.size()), .type = std::move(type)});
}

void Graph::register_name(Value value, const std::string& name) {
  const bool fresh = names_.emplace(name, value).second;
  CLOZE_CHECK(fresh, "the name {} is used twice in a graph", name);
}

Value Graph::add_input(std::string name, TensorType type) {
  const Value value = new_value({.name = name, .type = std::move(type), .kind = ValueKind::kInput});
  register_name(value, name);
  return value;
}

Value Graph::add_variable(ValueInfo info) {
  info.kind = ValueKind::kVariable;
  const std::string name = info.name;
  const Value value = new_value(std::move(info));
  register_name(value, name);
  return value;
}

Value Graph::add_parameter(std::string_view name, Shape shape, Init init, ParameterTraits traits) {
  return add_variable({.name = within(place_.module, name),
                       .type = {DType::kF32, std::move(shape)},
                       .role = VariableRole::kParameter,
                       .init = init,
                       .traits = traits});
}

Node& Graph::append(const OpDefinition& op, std::vector<Value> inputs, std::any attributes) {
  Node node;
  node.op = &op;
  node.module = place_.module;
  node.layer = place_.layer;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.phase = place_.phase;
  return nodes_.emplace_back(std::move(node));
}

std::vector<Value> Graph::add(const OpDefinition& op, std::vector<Value> inputs,
                              std::any attributes) {
  const std::vector<TensorType> outputs = infer_types(op, types(inputs), attributes);
  std::vector<Value> values;
  for (const TensorType& type : outputs) values.push_back(new_intermediate(type));
  Node& node = append(op, std::move(inputs), std::move(attributes));
  node.outputs = values;
  node.accumulates.assign(values.size(), false);
  return values;
}

Value Graph::add_one(const OpDefinition& op, std::vector<Value> inputs, std::any attributes) {
  const std::vector<Value> outputs = add(op, std::move(inputs), std::move(attributes));
  CLOZE_CHECK(outputs.size() == 1, "{} has {} outputs, not one", op.name, outputs.size());
  return outputs[0];
}

void Graph::add_into(const OpDefinition& op, std::vector<Value> inputs, std::any attributes,
                     std::vector<Target> targets) {
  Node& node = append(op, std::move(inputs), std::move(attributes));
  for (const Target& target : targets) {
    node.outputs.push_back(target.variable);
    node.accumulates.push_back(target.accumulate);
  }
}

void Graph::mark_output(Value value, std::string name) {
  register_name(value, name);
  info(value).name = std::move(name);
  outputs_.push_back(value);
}

const ValueInfo& Graph::info(Value value) const {
  CLOZE_CHECK(value.valid() && value.index < num_values(), "value {} of {}", value.index,
              num_values());
  return values_[value.index];
}

ValueInfo& Graph::info(Value value) {
  return const_cast<ValueInfo&>(static_cast<const Graph*>(this)->info(value));
}

std::vector<TensorType> Graph::types(const std::vector<Value>& values) const {
  std::vector<TensorType> result;
  result.reserve(values.size());
  for (const Value value : values) result.push_back(type(value));
  return result;
}

std::optional<Value> Graph::find(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

std::vector<Value> Graph::variables(VariableRole role) const {
  std::vector<Value> result;
  for (int32_t i = 0; i < num_values(); ++i) {
    if (values_[i].kind == ValueKind::kVariable && values_[i].role == role) result.push_back({i});
  }
  return result;
}

int64_t Graph::largest_bytes(VariableRole role) const {
  int64_t largest = 0;
  for (const Value variable : variables(role)) largest = std::max(largest, type(variable).bytes());
  return largest;
}

std::vector<Value> Graph::inputs() const {
  std::vector<Value> result;
  for (int32_t i = 0; i < num_values(); ++i) {
    if (values_[i].kind == ValueKind::kInput) result.push_back({i});
  }
  return result;
}

void Graph::verify() const {
  Verifier verifier(*this);
  for (const Node& node : nodes_) verifier.check(node);
}

std::string Graph::to_string() const {
  std::string text;
  for (const Node& node : nodes_) {
    const bool accumulates =
        std::find(node.accumulates.begin(), node.accumulates.end(), true) != node.accumulates.end();
    text += fmt::format("{:<10}  {} {} {}({})\n", phases_[node.phase.index],
                        describe(*this, node.outputs), accumulates ? "+=" : "=", node.name(),
                        describe(*this, node.inputs));
  }
  return text;
}

}  // namespace cloze::graph
