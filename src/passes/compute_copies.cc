#include "passes/compute_copies.h"

namespace cloze::passes {

using graph::Value;

Value ComputeCopies::of(Value parameter) {
  const auto found = copies_.find(parameter.index);
  if (found != copies_.end()) return found->second;
  const Value copy = graph_.add_variable(
      {.name = prefix_ + graph_.info(parameter).name,
       .type = graph::infer_types(op_, graph_.types({parameter}), attributes_)[0],
       .role = graph::VariableRole::kComputeCopy,
       .master = parameter});
  const auto refresh = graph_.phase_scope(graph::kRefresh);
  graph_.add_into(op_, {parameter}, attributes_, {{copy, false}});
  copies_.emplace(parameter.index, copy);
  return copy;
}

}  // namespace cloze::passes
