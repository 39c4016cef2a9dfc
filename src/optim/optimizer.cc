#include "optim/optimizer.h"

#include "ops/elementwise.h"
#include "ops/optimizer_update.h"

namespace cloze::optim {
namespace {

using graph::Graph;
using graph::Phase;
using graph::Value;
using graph::VariableRole;

struct UpdateInputs {
  Value gradient_scale, learning_rate;  // [1] f32
  Value update_index;                   // [1] i32
  Value check;                          // [1] f32
};

Value add_state(Graph& graph, std::string_view prefix, Value parameter) {
  return graph.add_variable({.name = std::string(prefix) + graph.info(parameter).name,
                             .type = graph.type(parameter),
                             .role = VariableRole::kOptimizerState,
                             .master = parameter});
}

Value add_metric(Graph& graph, const char* name) {
  return graph.add_variable({.name = name, .type = graph::kScalar, .role = VariableRole::kMetric});
}

Value add_gradient_scale(Graph& graph, const std::vector<Value>& gradients,
                         const std::vector<Value>& losses, double max_norm) {
  std::vector<Value> verdicts = {add_metric(graph, "gradient_norm")};
  graph.add_into(ops::kGlobalNorm, gradients, {}, {{verdicts.front(), false}});
  verdicts.insert(verdicts.end(), losses.begin(), losses.end());
  return graph.add_one(ops::kGradientScale, verdicts, ops::GradientScaleAttributes{max_norm});
}

void add_update(Graph& graph, const OptimizerOptions& options, Value gradient,
                const UpdateInputs& in) {
  const Value parameter = graph.info(gradient).master;
  const std::string name = graph.info(parameter).name;
  const bool excluded = is_excluded_from_decay(name);
  const ops::MomentAttributes attributes{.beta1 = options.beta1,
                                         .beta2 = options.beta2,
                                         .epsilon = options.epsilon,
                                         .weight_decay = excluded ? 0.0 : options.weight_decay_rate,
                                         .use_debiasing = options.use_debiasing,
                                         .adapts = !excluded};
  const Value m = add_state(graph, "optimizer.m.", parameter);
  const Value v = add_state(graph, "optimizer.v.", parameter);
  const auto& op = options.kind == OptimizerKind::kLamb ? ops::kLamb : ops::kAdamW;
  const auto scope = graph.scope(name);
  graph.add(
      op,
      {parameter, m, v, gradient, in.gradient_scale, in.learning_rate, in.update_index, in.check},
      attributes);
}

}  // namespace

bool is_excluded_from_decay(std::string_view parameter_name) {
  return parameter_name.ends_with("bias") ||
         parameter_name.find("LayerNorm") != std::string_view::npos;
}

void add_optimizer(Graph& graph, const OptimizerOptions& options,
                   const std::vector<Value>& losses) {
  const Phase phase = graph.phase();
  graph.set_phase(Phase::kUpdate);
  const std::vector<Value> gradients = graph.variables(VariableRole::kGradient);
  const UpdateInputs inputs{
      .gradient_scale = add_gradient_scale(graph, gradients, losses, options.max_gradient_norm),
      .learning_rate = graph.add_input("learning_rate", graph::kScalar),
      .update_index = graph.add_input("update_index", {DType::kI32, {1}}),
      .check = add_metric(graph, "update_check")};
  for (const Value gradient : gradients) add_update(graph, options, gradient, inputs);
  graph.set_phase(phase);
}

}  // namespace cloze::optim
