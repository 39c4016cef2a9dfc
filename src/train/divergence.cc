#include "train/divergence.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "train/tensor_norms.h"

namespace cloze::train {
namespace {

using graph::Value;
using graph::VariableRole;

// NaN without its sign, which says nothing: compilers and instruction sets choose it.
std::string spelled(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string describe(const runtime::NonFiniteElement& element) {
  return fmt::format("element {} is {}", element.index, spelled(element.value));
}

// A parameter as an update sees it. Causes come first: moments, then the weight.
struct Updated {
  Value gradient;
  std::vector<Value> written;
};

std::vector<Updated> updated_parameters(const graph::Graph& graph) {
  std::map<int32_t, Updated> by_parameter;
  for (const Value gradient : graph.variables(VariableRole::kGradient)) {
    by_parameter[graph.info(gradient).master.index].gradient = gradient;
  }
  for (const Value moment : graph.variables(VariableRole::kOptimizerState)) {
    by_parameter[graph.info(moment).master.index].written.push_back(moment);
  }
  std::vector<Updated> updated;
  for (auto& [parameter, variables] : by_parameter) {
    variables.written.push_back({parameter});
    updated.push_back(std::move(variables));
  }
  return updated;
}

// The message of the first rank that has one.
std::optional<std::string> said_by_any(comm::Communicator& ranks,
                                       const std::optional<std::string>& own) {
  for (const std::string& theirs : ranks.all_gather(own.value_or(""))) {
    if (!theirs.empty()) return theirs;
  }
  return std::nullopt;
}

std::optional<std::string> find_non_finite_in(engine::Session& session,
                                              const std::vector<Value>& values) {
  for (const Value value : values) {
    const graph::ValueInfo& info = session.graph().info(value);
    const auto element = session.executor().find_non_finite(value);
    if (element) return fmt::format("{} ({})", info.name, describe(*element));
  }
  return std::nullopt;
}

struct NamedNorm {
  std::string name;
  double norm = -1.0;
};

NamedNorm largest_gradient(engine::Session& session) {
  const graph::Graph& graph = session.graph();
  NamedNorm largest;
  for (const Value gradient : graph.variables(VariableRole::kGradient)) {
    const double norm = norm_of(session, gradient);
    if (norm > largest.norm) largest = {graph.info(graph.info(gradient).master).name, norm};
  }
  return largest;
}

// The gradients that this rank reports. Where ranks are divided, it holds only its own part of the
// other gradients' sums, and none of their moments.
std::set<int32_t> spoken_of(const TrainingStep& step) {
  const std::vector<Value> gradients = step.session().graph().variables(VariableRole::kGradient);
  const std::vector<bool> is_own = step.own_gradients();
  std::set<int32_t> own;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!step.is_divided() || is_own[i]) own.insert(gradients[i].index);
  }
  return own;
}

// By parameter: what the update left that is not finite, and the norm of the gradient.
std::map<std::string, NamedNorm> overflows_in(TrainingStep& step) {
  engine::Session& session = step.session();
  const std::set<int32_t> own = spoken_of(step);
  std::map<std::string, NamedNorm> overflows;
  for (const Updated& parameter : updated_parameters(session.graph())) {
    if (!own.contains(parameter.gradient.index)) continue;
    const auto found = find_non_finite_in(session, parameter.written);
    if (!found) continue;
    const graph::ValueInfo& gradient = session.graph().info(parameter.gradient);
    overflows[session.graph().info(gradient.master).name] = {*found,
                                                             norm_of(session, parameter.gradient)};
  }
  return overflows;
}

// The same of all ranks: a stage, or a part of the states, may be another's.
std::map<std::string, NamedNorm> overflows_of_all(TrainingStep& step) {
  std::vector<std::string> parameters, names;
  std::vector<double> norms;
  for (const auto& [parameter, where] : overflows_in(step)) {
    parameters.push_back(parameter);
    names.push_back(where.name);
    norms.push_back(where.norm);
  }
  const std::vector<std::vector<std::string>> all_parameters = step.ranks().all_gather(parameters);
  const std::vector<std::vector<std::string>> all_names = step.ranks().all_gather(names);
  const std::vector<std::vector<double>> all_norms = step.ranks().all_gather(norms);
  std::map<std::string, NamedNorm> all;
  for (size_t rank = 0; rank < all_norms.size(); ++rank) {
    for (size_t i = 0; i < all_norms[rank].size(); ++i) {
      all.try_emplace(all_parameters[rank][i], NamedNorm{all_names[rank][i], all_norms[rank][i]});
    }
  }
  return all;
}

}  // namespace

std::optional<std::string> find_non_finite_state(TrainingStep& step) {
  engine::Session& session = step.session();
  std::vector<Value> state = session.graph().variables(VariableRole::kOptimizerState);
  const std::vector<Value> parameters = session.graph().variables(VariableRole::kParameter);
  state.insert(state.end(), parameters.begin(), parameters.end());
  return said_by_any(step.ranks(), find_non_finite_in(session, state));
}

std::optional<std::string> find_non_finite_gradient(TrainingStep& step) {
  engine::Session& session = step.session();
  return said_by_any(
      step.ranks(),
      find_non_finite_in(session, session.graph().variables(VariableRole::kGradient)));
}

std::string not_finite_step(int64_t step, const StepResult& result) {
  return fmt::format("step {} is not finite: loss {}, gradient norm {}", step,
                     spelled(result.loss()), spelled(result.gradient_norm));
}

data::StepBatch alone(const data::MicroBatch& batch) {
  return {.micro_batches = {batch},
          .num_tokens = batch.num_tokens,
          .num_sequences = batch.num_sequences,
          .num_predictions = batch.num_predictions};
}

std::string origin_of(TrainingStep& step, const data::StepBatch& batch, int64_t step_index) {
  if (const auto state = find_non_finite_state(step)) {
    return fmt::format("The problem was there before the step, in {}", *state);
  }
  if (step.is_pipeline()) return "Resume in one process with --restore-dir to see where it begins";
  const auto found = step.find_non_finite(batch, step_index);
  if (!found) return "The step is finite when it is computed again; the machine may be faulty";
  // A norm of gradients that were all finite when they were computed.
  if (found->tensor == optim::kGradientNorm) {
    const NamedNorm largest = largest_gradient(step.session());
    return fmt::format(
        "Every gradient is finite, but their global norm overflows f32. The largest is that "
        "of {} (norm {:.4g})",
        largest.name, largest.norm);
  }
  const std::string reads = found->reads.empty() ? "" : fmt::format(", with {}", found->reads);
  return fmt::format("It began in {}{}: {} ({}), in phase {}", found->node, reads, found->tensor,
                     describe(found->element), found->phase);
}

std::string overflow_of(TrainingStep& step, double learning_rate) {
  NamedNorm worst{.name = "no tensor"};
  const std::map<std::string, NamedNorm> overflows = overflows_of_all(step);
  for (const auto& [parameter, where] : overflows) {
    if (where.norm > worst.norm) worst = where;
  }
  const size_t count = overflows.size();
  std::string text = "produced numbers that are not finite in " + worst.name;
  if (count > 1) {
    text += fmt::format(
        ", and in {} other parameters, none of which has a larger gradient (this one's has norm "
        "{:.4g})",
        count - 1, worst.norm);
  }
  if (!std::isfinite(static_cast<float>(learning_rate))) {
    text += fmt::format(": the learning rate {} overflows f32", learning_rate);
  }
  return text;
}

bool has_finite_gradients(TrainingStep& step, const data::MicroBatch& batch, int64_t step_index) {
  const StepResult result = step.accumulate(alone(batch), step_index);
  const bool has_finite = !find_non_finite_gradient(step);
  return std::isfinite(result.loss()) && has_finite;
}

}  // namespace cloze::train
