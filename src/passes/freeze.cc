#include "passes/freeze.h"

#include <unordered_map>

#include "base/error.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;

class Copier {
 public:
  explicit Copier(const Graph& from) : from_(from) {}

  Graph copy() && {
    for (const Value input : from_.inputs()) {
      const Value copy = to_.add_input(from_.info(input).name, from_.type(input));
      to_.info(copy).is_optional = from_.info(input).is_optional;
      copies_[input.index] = copy;
    }
    for (const Node& node : from_.nodes()) {
      if (from_.phases()[node.phase.index] == graph::kMicroStep) copy_node(node);
    }
    for (const Value output : from_.outputs()) {
      to_.mark_output(copies_.at(output.index), from_.info(output).name);
    }
    to_.verify();
    return std::move(to_);
  }

 private:
  Value copy_of(Value value) {
    const auto found = copies_.find(value.index);
    if (found != copies_.end()) return found->second;
    const ValueInfo& info = from_.info(value);
    CLOZE_CHECK(info.kind == ValueKind::kVariable, "{} is read before it is made", info.name);
    const Value copy = to_.add_variable(
        {.name = info.name, .type = info.type, .role = graph::VariableRole::kParameter});
    copies_[value.index] = copy;
    return copy;
  }

  void copy_node(const Node& node) {
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(copy_of(input));
    const auto scope = to_.scope_of(node);
    const std::vector<Value> outputs = to_.add(*node.op, std::move(inputs), node.attributes);
    for (size_t i = 0; i < outputs.size(); ++i) copies_[node.outputs[i].index] = outputs[i];
  }

  const Graph& from_;
  Graph to_;
  std::unordered_map<int32_t, Value> copies_;
};

}  // namespace

graph::Graph frozen(const Graph& graph) { return Copier(graph).copy(); }

}  // namespace cloze::passes
