#include "optim/optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "ops/elementwise.h"
#include "ops/gradient_descent.h"
#include "ops/optimizer_update.h"
#include "ops/stochastic_rounding.h"

namespace cloze::optim {
namespace {

using graph::Graph;
using graph::Value;
using graph::VariableRole;

double first_moment_scale(const OptimizerOptions& options) {
  return options.first_moment == DType::kF16 ? kFloat16MomentScale : 1.0;
}

std::any moment_attributes(const OptimizerOptions& options, const graph::ParameterTraits& traits) {
  return ops::MomentAttributes{.beta1 = options.beta1,
                               .beta2 = options.beta2,
                               .epsilon = options.epsilon,
                               .weight_decay = traits.decays ? options.weight_decay_rate : 0.0,
                               .use_debiasing = options.use_debiasing,
                               .adapts = traits.adapts,
                               .max_weight_norm = options.weight_norm_clip,
                               .first_moment_scale = first_moment_scale(options)};
}

// Kingma and Ba's Adam: it corrects the moments and has no weight decay.
std::any adam_attributes(const OptimizerOptions& options, const graph::ParameterTraits&) {
  if (options.weight_decay_rate != 0.0) {
    throw_user_error("weight_decay_rate is {}, but adam has no decay; choose adamw",
                     options.weight_decay_rate);
  }
  return ops::MomentAttributes{.beta1 = options.beta1,
                               .beta2 = options.beta2,
                               .epsilon = options.epsilon,
                               .use_debiasing = true,
                               .first_moment_scale = first_moment_scale(options)};
}

std::any descent_attributes(const OptimizerOptions& options, const graph::ParameterTraits& traits) {
  return ops::GradientDescentAttributes{
      .momentum = options.momentum,
      .weight_decay = traits.decays ? options.weight_decay_rate : 0.0};
}

// The older systems' mpadamw keeps f32 master copies of half-precision weights, as every optimiser
// here does.
const std::vector<Optimizer>& table() {
  static const std::vector<Optimizer> rows{
      {.name = "lamb",
       .update = &ops::kLamb,
       .states = {"m", "v"},
       .attributes = moment_attributes,
       .options = {"beta1", "beta2", "epsilon", "weight_decay_rate", "use_debiasing", "use_nvlamb",
                   "weight_norm_clip", "first_moment_precision"}},
      {.name = "adamw",
       .alias = "mpadamw",
       .update = &ops::kAdamW,
       .states = {"m", "v"},
       .attributes = moment_attributes,
       .options = {"beta1", "beta2", "epsilon", "weight_decay_rate", "use_debiasing",
                   "first_moment_precision"},
       .default_max_gradient_norm = 1.0},
      {.name = "adam",
       .update = &ops::kAdamW,
       .states = {"m", "v"},
       .attributes = adam_attributes,
       .options = {"beta1", "beta2", "epsilon", "weight_decay_rate", "first_moment_precision"}},
      {.name = "momentum",
       .update = &ops::kMomentum,
       .states = {"velocity"},
       .attributes = descent_attributes,
       .options = {"momentum", "weight_decay_rate"}},
      {.name = "sgd",
       .update = &ops::kSgd,
       .attributes = descent_attributes,
       .options = {"weight_decay_rate"}},
  };
  return rows;
}

struct UpdateInputs {
  Value gradient_scale, learning_rate;  // [1] f32
  Value update_index;                   // [1] i32
  Value check;                          // [1] f32
};

Value add_state(Graph& graph, const OptimizerOptions& options, std::string_view state,
                Value parameter) {
  const DType dtype = state == "m" ? options.first_moment : DType::kF32;
  return graph.add_variable(
      {.name = fmt::format("optimizer.{}.{}", state, graph.info(parameter).name),
       .type = {dtype, graph.type(parameter).shape},
       .role = VariableRole::kOptimizerState,
       .master = parameter});
}

Value add_metric(Graph& graph, const char* name) {
  return graph.add_variable({.name = name, .type = graph::kScalar, .role = VariableRole::kMetric});
}

Value add_gradient_scale(Graph& graph, const std::vector<Value>& gradients, const StepValues& step,
                         double max_norm) {
  std::vector<Value> verdicts = {add_metric(graph, kGradientNorm), step.loss_scale};
  graph.add_into(ops::kGlobalNorm, gradients, {}, {{verdicts.front(), false}});
  verdicts.insert(verdicts.end(), step.losses.begin(), step.losses.end());
  return graph.add_one(ops::kGradientScale, verdicts, ops::GradientScaleAttributes{max_norm});
}

void add_update(Graph& graph, const Optimizer& optimizer, const OptimizerOptions& options,
                Value gradient, const UpdateInputs& in) {
  const Value parameter = graph.info(gradient).master;
  std::vector<Value> inputs{parameter};
  for (const std::string_view state : optimizer.states) {
    inputs.push_back(add_state(graph, options, state, parameter));
  }
  inputs.insert(inputs.end(),
                {gradient, in.gradient_scale, in.learning_rate, in.update_index, in.check});
  const auto scope = graph.scope(graph.info(parameter).name);
  graph.add(*optimizer.update, std::move(inputs),
            optimizer.attributes(options, graph.info(parameter).traits));
}

void add_rounding(Graph& graph, Value gradient, Value gradient_scale, Value random_key,
                  int32_t site) {
  const Value parameter = graph.info(gradient).master;
  const auto scope = graph.scope(graph.info(parameter).name);
  graph.add(ops::kStochasticRounding, {parameter, gradient_scale, random_key},
            ops::StochasticRoundingAttributes{site});
}

}  // namespace

const Optimizer& optimizer_named(std::string_view name) {
  const auto found = std::ranges::find_if(
      table(), [&](const Optimizer& row) { return row.name == name || row.alias == name; });
  if (name.empty() || found == table().end()) {
    throw_user_error("optimizer {} is not known; choose {}", name,
                     fmt::join(optimizer_names(), ", "));
  }
  return *found;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const Optimizer& row : table()) {
    names.emplace_back(row.name);
    if (!row.alias.empty()) names.emplace_back(row.alias);
  }
  return names;
}

double OptimizerOptions::clipping_norm() const {
  if (max_gradient_norm) return *max_gradient_norm;
  if (use_mpclip || use_nvlamb) return 1.0;
  return optimizer_named(name).default_max_gradient_norm;
}

std::vector<int> shared_out(std::span<const int64_t> sizes, int ranks) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return sizes[i]; });
  std::vector<int64_t> taken(static_cast<size_t>(ranks), 0);
  std::vector<int> owners(sizes.size());
  for (const size_t i : order) {
    const auto least = std::ranges::min_element(taken);
    *least += sizes[i];
    owners[i] = static_cast<int>(least - taken.begin());
  }
  return owners;
}

std::vector<int> update_owners(const Graph& graph, const UpdateShare& share) {
  const std::vector<Value> gradients = graph.variables(VariableRole::kGradient);
  std::vector<size_t> shared;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!share.numbers.empty() && share.numbers[i] < 0) continue;
    shared.push_back(i);
    sizes.push_back(graph.type(gradients[i]).shape.elements());
  }
  if (share.ranks > std::ssize(shared)) {
    throw_user_error("an update of {} parameters cannot be shared by {} ranks; start fewer",
                     shared.size(), share.ranks);
  }
  const std::vector<int> owner_of = shared_out(sizes, share.ranks);
  std::vector<int> owners(gradients.size(), -1);
  for (size_t i = 0; i < shared.size(); ++i) owners[shared[i]] = owner_of[i];
  return owners;
}

void add_optimizer(Graph& graph, const OptimizerOptions& options, const StepValues& step,
                   const UpdateShare& share) {
  const Optimizer& optimizer = optimizer_named(options.name);
  const std::vector<int> owners = update_owners(graph, share);
  const auto update = graph.phase_scope(graph::kUpdate);
  const std::vector<Value> gradients = graph.variables(VariableRole::kGradient);
  std::vector<Value> own;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (owners[i] == share.rank) own.push_back(gradients[i]);
  }
  const UpdateInputs inputs{
      .gradient_scale = add_gradient_scale(graph, own, step, options.clipping_norm()),
      .learning_rate = graph.add_input(kLearningRate, graph::kScalar),
      .update_index = graph.add_input(kUpdateIndex, {DType::kI32, {1}}),
      .check = add_metric(graph, kUpdateCheck)};
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (owners[i] != share.rank) continue;
    add_update(graph, optimizer, options, gradients[i], inputs);
    if (!options.has_bf16_weights) continue;
    const auto site = share.numbers.empty() ? static_cast<int32_t>(i) : share.numbers[i];
    add_rounding(graph, gradients[i], inputs.gradient_scale, step.random_key, site);
  }
}

}  // namespace cloze::optim
