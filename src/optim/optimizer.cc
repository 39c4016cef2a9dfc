#include "optim/optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "ops/elementwise.h"
#include "ops/gradient_descent.h"
#include "ops/optimizer_update.h"
#include "ops/stochastic_rounding.h"
#include "optim/parameter_rules.h"

namespace cloze::optim {
namespace {

using graph::Graph;
using graph::Value;
using graph::VariableRole;

std::any moment_attributes(const OptimizerOptions& options, const graph::ValueInfo& parameter) {
  return ops::MomentAttributes{
      .beta1 = options.beta1,
      .beta2 = options.beta2,
      .epsilon = options.epsilon,
      .weight_decay = decays(parameter, options) ? options.weight_decay_rate : 0.0,
      .use_debiasing = options.use_debiasing,
      .debiases_epsilon = options.debiases_epsilon,
      .adapts = adapts(parameter, options),
      .max_weight_norm = options.weight_norm_clip,
      .first_moment_scale = options.first_moment_scale()};
}

// Kingma and Ba's Adam: it corrects the moments and has no weight decay.
std::any adam_attributes(const OptimizerOptions& options, const graph::ValueInfo&) {
  if (options.weight_decay_rate != 0.0) {
    throw_user_error("weight_decay_rate is {}, but adam has no decay; choose adamw",
                     options.weight_decay_rate);
  }
  return ops::MomentAttributes{.beta1 = options.beta1,
                               .beta2 = options.beta2,
                               .epsilon = options.epsilon,
                               .use_debiasing = true,
                               .debiases_epsilon = options.debiases_epsilon,
                               .first_moment_scale = options.first_moment_scale()};
}

std::any descent_attributes(const OptimizerOptions& options, const graph::ValueInfo& parameter) {
  return ops::GradientDescentAttributes{
      .momentum = options.momentum,
      .weight_decay = decays(parameter, options) ? options.weight_decay_rate : 0.0};
}

// The older systems' mpadamw keeps f32 master copies of half-precision weights, as every optimiser
// here does.
const std::vector<Optimizer>& table() {
  static const std::vector<Optimizer> rows{
      {.name = "lamb",
       .update = &ops::kLamb,
       .states = {"m", "v"},
       .attributes = moment_attributes,
       .options = {"beta1", "beta2", "epsilon", "weight_decay_rate", "decay_layer_norm_scale",
                   "use_debiasing", "debias_epsilon", "use_nvlamb", "weight_norm_clip",
                   "adapt_vectors", "join_qkv", "first_moment_precision"}},
      {.name = "adamw",
       .alias = "mpadamw",
       .update = &ops::kAdamW,
       .states = {"m", "v"},
       .attributes = moment_attributes,
       .options = {"beta1", "beta2", "epsilon", "weight_decay_rate", "decay_layer_norm_scale",
                   "use_debiasing", "debias_epsilon", "first_moment_precision"},
       .default_max_gradient_norm = 1.0},
      {.name = "adam",
       .update = &ops::kAdamW,
       .states = {"m", "v"},
       .attributes = adam_attributes,
       .options = {"beta1", "beta2", "epsilon", "weight_decay_rate", "debias_epsilon",
                   "first_moment_precision"}},
      {.name = "momentum",
       .update = &ops::kMomentum,
       .states = {"velocity"},
       .attributes = descent_attributes,
       .options = {"momentum", "weight_decay_rate", "decay_layer_norm_scale"}},
      {.name = "sgd",
       .update = &ops::kSgd,
       .attributes = descent_attributes,
       .options = {"weight_decay_rate", "decay_layer_norm_scale"}},
  };
  return rows;
}

// The inputs that parameters read their learning rates from, each made when it is first asked for.
class RateInputs {
 public:
  RateInputs(Graph& graph, const DepthRules& rules) : graph_(graph), rules_(rules) {}

  Value of(const std::string& parameter) {
    const double factor = rules_.rate_factor(parameter);
    const std::string name = factor == 1.0
                                 ? kLearningRate
                                 : fmt::format("{}.depth_{}", kLearningRate, *depth_of(parameter));
    if (const auto input = graph_.find(name)) return *input;
    inputs_.push_back({name, factor});
    return graph_.add_input(name, graph::kScalar);
  }
  std::vector<RateInput> take() { return std::move(inputs_); }

 private:
  Graph& graph_;
  const DepthRules& rules_;
  std::vector<RateInput> inputs_;
};

struct UpdateInputs {
  Value gradient_scale;  // [1] f32
  RateInputs rates;
  Value update_index;  // [1] i32
  Value check;         // [1] f32
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

// A parameter on its way through the update.
struct Updated {
  Value parameter;
  std::vector<Value> inputs;  // of its operator
  std::any attributes;
  std::string joined;  // joined_name(), where it shares a trust ratio
};

Updated with_states(Graph& graph, const Optimizer& optimizer, const OptimizerOptions& options,
                    Value gradient, UpdateInputs& in) {
  const Value parameter = graph.info(gradient).master;
  Updated updated{.parameter = parameter, .inputs = {parameter}};
  for (const std::string_view state : optimizer.states) {
    updated.inputs.push_back(add_state(graph, options, state, parameter));
  }
  const Value rate = in.rates.of(graph.info(parameter).name);
  updated.inputs.insert(updated.inputs.end(),
                        {gradient, in.gradient_scale, rate, in.update_index, in.check});
  const graph::ValueInfo& info = graph.info(parameter);
  updated.attributes = optimizer.attributes(options, info);
  const bool is_adapted = optimizer.update == &ops::kLamb && adapts(info, options);
  if (options.joins_qkv && is_adapted) updated.joined = joined_name(info);
  return updated;
}

// Maps each joined_name() to the norms of all its parts.
using JoinedNorms = std::map<std::string, std::vector<Value>>;

JoinedNorms add_norms(Graph& graph, const std::vector<Updated>& all) {
  JoinedNorms norms;
  for (const Updated& one : all) {
    if (one.joined.empty()) continue;
    const auto scope = graph.scope(graph.info(one.parameter).name);
    norms[one.joined].push_back(graph.add_one(ops::kLambNorms, one.inputs, one.attributes));
  }
  return norms;
}

void add_update(Graph& graph, const Optimizer& optimizer, const Updated& one,
                const JoinedNorms& norms) {
  const auto scope = graph.scope(graph.info(one.parameter).name);
  if (one.joined.empty()) {
    graph.add(*optimizer.update, one.inputs, one.attributes);
    return;
  }
  std::vector<Value> inputs = one.inputs;
  const std::vector<Value>& shared = norms.at(one.joined);
  inputs.insert(inputs.end(), shared.begin(), shared.end());
  graph.add(ops::kLambMove, std::move(inputs), one.attributes);
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
    throw_user_error("`optimizer` {} is not known; choose {}", name,
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

double OptimizerOptions::first_moment_scale() const {
  return first_moment == DType::kF16 ? kFloat16MomentScale : 1.0;
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
  std::vector<size_t> item_of(gradients.size());  // what is shared out
  std::map<std::string, size_t> joined_items;
  std::vector<int64_t> sizes;
  const auto is_shared = [&](size_t i) { return share.numbers.empty() || share.numbers[i] >= 0; };
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!is_shared(i)) continue;
    item_of[i] = sizes.size();
    if (share.keeps_joined) {
      const std::string joined = joined_name(graph.info(graph.info(gradients[i]).master));
      if (!joined.empty()) item_of[i] = joined_items.emplace(joined, sizes.size()).first->second;
    }
    if (item_of[i] == sizes.size()) sizes.push_back(0);
    sizes[item_of[i]] += graph.type(gradients[i]).shape.elements();
  }
  if (share.ranks > std::ssize(sizes)) {
    throw_user_error("an update of {} parameters cannot be shared by {} ranks; start fewer",
                     sizes.size(), share.ranks);
  }
  const std::vector<int> owner_of = shared_out(sizes, share.ranks);
  std::vector<int> owners(gradients.size(), -1);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (is_shared(i)) owners[i] = owner_of[item_of[i]];
  }
  return owners;
}

std::vector<RateInput> add_optimizer(Graph& graph, const OptimizerOptions& options,
                                     const StepValues& step, const UpdateShare& share) {
  const Optimizer& optimizer = optimizer_named(options.name);
  const std::vector<int> owners = update_owners(graph, share);
  const auto update = graph.phase_scope(graph::kUpdate);
  const std::vector<Value> gradients = graph.variables(VariableRole::kGradient);
  std::vector<Value> own;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (owners[i] == share.rank) own.push_back(gradients[i]);
  }
  UpdateInputs inputs{
      .gradient_scale = add_gradient_scale(graph, own, step, options.clipping_norm()),
      .rates = RateInputs(graph, options.depth),
      .update_index = graph.add_input(kUpdateIndex, {DType::kI32, {1}}),
      .check = add_metric(graph, kUpdateCheck)};
  std::vector<Updated> all;
  for (const Value gradient : own) {
    all.push_back(with_states(graph, optimizer, options, gradient, inputs));
  }
  const JoinedNorms norms = add_norms(graph, all);
  auto one = all.begin();
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (owners[i] != share.rank) continue;
    add_update(graph, optimizer, *one++, norms);
    if (!options.has_bf16_weights) continue;
    const auto site = share.numbers.empty() ? static_cast<int32_t>(i) : share.numbers[i];
    add_rounding(graph, gradients[i], inputs.gradient_scale, step.random_key, site);
  }
  return inputs.rates.take();
}

}  // namespace cloze::optim
