#include "graph/copier.h"

namespace cloze::graph {

Value Copier::copy(Value value) {
  if (has(value)) return copies_.at(value.index);
  ValueInfo info = from_.info(value);
  if (info.master.valid()) info.master = copy(info.master);
  Value copy;
  if (info.kind == ValueKind::kIntermediate) {
    copy = to_.new_intermediate(info.type);
  } else if (info.kind == ValueKind::kVariable) {
    copy = to_.add_variable(info);
  } else {
    copy = to_.add_input(info.name, info.type);
    to_.info(copy).is_optional = info.is_optional;
  }
  replace(value, copy);
  return copy;
}

std::vector<Value> Copier::copy(const std::vector<Value>& values) {
  std::vector<Value> copies;
  for (const Value value : values) copies.push_back(copy(value));
  return copies;
}

void Copier::copy(const Node& node) {
  const auto scope = to_.phase_scope(from_.phases()[static_cast<size_t>(node.phase.index)]);
  Node copied = node;
  copied.phase = to_.place_.phase;
  copied.inputs = copy(node.inputs);
  copied.outputs = copy(node.outputs);
  to_.nodes_.push_back(std::move(copied));
}

Graph Copier::finish() && {
  for (const Value output : from_.outputs()) {
    if (has(output)) to_.mark_output(copy(output), from_.info(output).name);
  }
  to_.verify();
  return std::move(to_);
}

}  // namespace cloze::graph
