#include "train/divergence.h"

#include <fmt/format.h>

#include <map>

namespace cloze::train {
namespace {

using graph::Value;
using graph::VariableRole;

std::string describe(const runtime::NonFiniteElement& element) {
  return fmt::format("element {} is {}", element.index, element.value);
}

// The variables of each parameter: its state, then itself.
std::vector<Value> state_and_parameters(const graph::Graph& graph) {
  std::map<int32_t, std::vector<Value>> states;
  for (const Value state : graph.variables(VariableRole::kOptimizerState)) {
    states[graph.info(state).master.index].push_back(state);
  }
  std::vector<Value> ordered;
  for (const Value parameter : graph.variables(VariableRole::kParameter)) {
    const std::vector<Value>& moments = states[parameter.index];
    ordered.insert(ordered.end(), moments.begin(), moments.end());
    ordered.push_back(parameter);
  }
  return ordered;
}

}  // namespace

std::optional<std::string> find_non_finite_state(engine::Session& session) {
  for (const Value value : state_and_parameters(session.graph())) {
    const graph::ValueInfo& info = session.graph().info(value);
    const auto element = runtime::find_non_finite(session.bytes(info.name), info.type.dtype);
    if (element) return fmt::format("{} ({})", info.name, describe(*element));
  }
  return std::nullopt;
}

std::string origin_of(TrainingStep& step, const data::StepBatch& batch, int64_t step_index) {
  if (const auto state = find_non_finite_state(step.session())) {
    return fmt::format("It was there before the step, in {}", *state);
  }
  const auto found = step.find_non_finite(batch, step_index);
  if (!found) return "Computed again it is finite: the machine may be at fault";
  const std::string reads = found->reads.empty() ? "" : fmt::format(", with {}", found->reads);
  return fmt::format("It began in {}{}: {} ({})", found->node, reads, found->tensor,
                     describe(found->element));
}

}  // namespace cloze::train
