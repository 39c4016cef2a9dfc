#include "forecast/stage_costs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/error.h"
#include "passes/pipeline.h"
#include "plan/kept_bytes.h"
#include "plan/lifetimes.h"
#include "plan/memory_plan.h"
#include "train/training_graph.h"

namespace cloze::forecast {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueKind;
using graph::VariableRole;

// The place of a node of the micro-batch.
struct Place {
  size_t stage = 0;
  bool is_backward = false;
};

class Split {
 public:
  Split(const plan::Program& program, const plan::ProgramUse& use, const StepSeconds& seconds,
        const std::vector<int64_t>& layers)
      : program_(program),
        graph_(program.graph),
        use_(use),
        seconds_(seconds),
        costs_(layers.size()) {
    parameters_.resize(layers.size());
    kept_.resize(layers.size());
    for (size_t stage = 0; stage < layers.size(); ++stage) costs_[stage].layers = layers[stage];
    place_nodes(layers);
  }

  std::vector<StageCosts> costs() && {
    for (size_t i = 0; i < places_.size(); ++i) count_launch(i);
    for (size_t i = places_.size(); i < use_.launches.size(); ++i) count_update(i);
    for (int32_t i = 0; i < graph_.num_values(); ++i) count_variable({i});
    count_boundaries();
    for (size_t stage = 0; stage < costs_.size(); ++stage) finish(stage);
    return std::move(costs_);
  }

 private:
  // Where the last stage turns from forward to backward, the nodes from the gradient of the loss on
  // are backward.
  void place_nodes(const std::vector<int64_t>& layers) {
    const std::vector<int> way = passes::places_on_way(graph_, layers);
    const std::optional<Value> loss_gradient = graph_.find(train::kLossGradient);
    const auto last = static_cast<int>(layers.size()) - 1;
    bool has_turned = false;
    for (size_t i = 0; i < way.size(); ++i) {
      const std::vector<Value>& inputs = use_.launches[i].node->inputs;
      has_turned = has_turned || (loss_gradient && std::ranges::count(inputs, *loss_gradient) > 0);
      places_.push_back({.stage = static_cast<size_t>(std::min(way[i], 2 * last - way[i])),
                         .is_backward = has_turned});
    }
  }

  // The stage that updates the parameter.
  size_t updater_of(int32_t parameter) const {
    const auto has = [&](const std::set<int32_t>& of_stage) {
      return of_stage.contains(parameter);
    };
    return static_cast<size_t>(std::ranges::find_if(parameters_, has) - parameters_.begin());
  }

  // The parameter that a variable is or belongs to.
  std::optional<Value> parameter_of(Value value) const {
    const graph::ValueInfo& info = graph_.info(value);
    if (info.kind != ValueKind::kVariable || info.role == VariableRole::kMetric) return {};
    return info.role == VariableRole::kParameter ? value : info.master;
  }

  void count_launch(size_t i) {
    const auto [stage, is_backward] = places_[i];
    StageCosts& costs = costs_[stage];
    const plan::LaunchUse& launch = use_.launches[i];
    (is_backward ? costs.backward : costs.forward) += seconds_.calls[i];
    costs.workspace_bytes = std::max(costs.workspace_bytes, launch.workspace_bytes);
    kept_[stage].add(launch.launch->kernel->kept_memory());
    for (const auto* values : {&launch.node->inputs, &launch.node->outputs}) {
      for (const Value value : *values) {
        const std::optional<Value> parameter = parameter_of(value);
        if (parameter) parameters_[stage].insert(parameter->index);
      }
    }
    for (const Value value : launch.node->outputs) {
      const graph::ValueInfo& info = graph_.info(value);
      if (info.kind != ValueKind::kVariable || info.role != VariableRole::kGradient) continue;
      finished_[{stage, value.index}] = costs.backward;  // the last one that adds to it stays
    }
  }

  // A launch on one parameter updates it; launches on several or on none come before all updates.
  void count_update(size_t i) {
    const plan::LaunchUse& launch = use_.launches[i];
    std::set<int32_t> parameters;
    for (const auto* values : {&launch.node->inputs, &launch.node->outputs}) {
      for (const Value value : *values) {
        if (const auto parameter = parameter_of(value)) parameters.insert(parameter->index);
      }
    }
    if (parameters.size() == 1) update_[*parameters.begin()] += seconds_.calls[i];
    for (size_t stage = 0; stage < costs_.size(); ++stage) {
      const auto has = [&](int32_t parameter) { return updater_of(parameter) == stage; };
      if (!parameters.empty() && std::ranges::none_of(parameters, has)) continue;
      if (parameters.size() != 1) costs_[stage].norm += seconds_.calls[i];
      costs_[stage].workspace_bytes =
          std::max(costs_[stage].workspace_bytes, launch.workspace_bytes);
      kept_[stage].add(launch.launch->kernel->kept_memory());
    }
  }

  void count_variable(Value value) {
    const graph::ValueInfo& info = graph_.info(value);
    if (info.kind == ValueKind::kIntermediate) return;
    const int64_t bytes = program_.aligned(info.type.bytes());
    const std::optional<Value> parameter = parameter_of(value);
    size_t owners = 0;
    for (size_t stage = 0; stage < costs_.size(); ++stage) {
      StageCosts& costs = costs_[stage];
      if (!parameter) costs.other_bytes += bytes;
      if (!parameter || !parameters_[stage].contains(parameter->index)) continue;
      ++owners;
      if (info.role == VariableRole::kParameter) costs.parameter_bytes.push_back(bytes);
      if (info.role == VariableRole::kComputeCopy) costs.copy_bytes += bytes;
      if (info.role == VariableRole::kGradient) costs.gradient_bytes += bytes;
    }
    if (owners > 0 && info.role == VariableRole::kOptimizerState) {
      costs_[updater_of(parameter->index)].state_bytes += bytes;
    }
    if (owners < 2 || info.role != VariableRole::kGradient) return;
    for (size_t stage = 0; stage < costs_.size(); ++stage) {
      if (parameters_[stage].contains(parameter->index)) costs_[stage].tied_bytes += bytes;
    }
  }

  // A value that a later stage reads passes through those between.
  void count_boundaries() {
    std::map<int32_t, Place> made;
    std::map<int32_t, std::pair<size_t, size_t>> reach;  // lowest and highest stage
    for (size_t i = 0; i < places_.size(); ++i) {
      const Node& node = *use_.launches[i].node;
      for (const Value value : node.inputs) {
        if (!made.contains(value.index)) continue;
        auto& [lowest, highest] = reach.at(value.index);
        // A backward pass reads only its own stage's values of a forward pass.
        if (places_[i].is_backward != made.at(value.index).is_backward) continue;
        lowest = std::min(lowest, places_[i].stage);
        highest = std::max(highest, places_[i].stage);
      }
      for (const Value value : node.outputs) {
        if (graph_.info(value).kind != ValueKind::kIntermediate) continue;
        if (!made.emplace(value.index, places_[i]).second) continue;
        reach[value.index] = {places_[i].stage, places_[i].stage};
      }
    }
    for (const auto& [value, ends] : reach) {
      const int64_t bytes = graph_.type(Value{value}).bytes();
      const Place& maker = made.at(value);
      for (size_t stage = maker.stage; !maker.is_backward && stage < ends.second; ++stage) {
        costs_[stage].forward_bytes += bytes;
      }
      for (size_t stage = maker.stage; maker.is_backward && stage > ends.first; --stage) {
        costs_[stage].backward_bytes += bytes;
      }
    }
  }

  void finish(size_t stage) {
    StageCosts& costs = costs_[stage];
    for (const auto& [key, at] : finished_) {
      const Value gradient{key.second};
      const int32_t parameter = graph_.info(gradient).master.index;
      if (key.first != stage || updater_of(parameter) != stage) continue;
      costs.gradients.push_back({.at = at,
                                 .bytes = graph_.type(gradient).bytes(),
                                 .update = update_[parameter],
                                 .number = gradient.index});
    }
    std::ranges::stable_sort(costs.gradients, {}, &FinishedGradient::at);
    costs.activation_bytes = activation_bytes(stage);
    costs.kernel_bytes = kept_[stage].bytes();
    int64_t all = 0;
    for (const Value gradient : graph_.variables(VariableRole::kGradient)) {
      all += program_.aligned(graph_.type(gradient).bytes());
    }
    const double share = static_cast<double>(costs.gradient_bytes) / static_cast<double>(all);
    costs.host = seconds_.host * share;
    costs.norm *= share;
  }

  // Planned as for the whole program, from the values that the stage makes or receives.
  int64_t activation_bytes(size_t stage) const {
    std::map<int32_t, plan::Lifetime> lives;
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].stage != stage) continue;
      const auto at = static_cast<int64_t>(i);
      for (const auto* values : {&use_.launches[i].node->inputs, &use_.launches[i].node->outputs}) {
        for (const Value value : *values) {
          if (graph_.info(value).kind != ValueKind::kIntermediate) continue;
          lives.try_emplace(value.index, plan::Lifetime{graph_.type(value).bytes(), at, at})
              .first->second.last = at;
        }
      }
    }
    std::vector<plan::Lifetime> lifetimes;
    for (const auto& [value, life] : lives) lifetimes.push_back(life);
    return plan::plan_memory(lifetimes, program_.alignment).total_bytes;
  }

  const plan::Program& program_;
  const Graph& graph_;
  const plan::ProgramUse& use_;
  const StepSeconds& seconds_;
  std::vector<StageCosts> costs_;
  std::vector<Place> places_;                              // of the launches of a micro-batch
  std::vector<std::set<int32_t>> parameters_;              // of each stage
  std::vector<plan::KeptBytes> kept_;                      // by each stage
  std::map<std::pair<size_t, int32_t>, double> finished_;  // (stage, gradient)
  std::map<int32_t, double> update_;                       // seconds, by parameter
};

}  // namespace

int64_t StageCosts::all_parameter_bytes() const {
  return std::accumulate(parameter_bytes.begin(), parameter_bytes.end(), int64_t{0});
}

double StageCosts::update() const {
  double seconds = norm;
  for (const FinishedGradient& gradient : gradients) seconds += gradient.update;
  return seconds;
}

std::vector<StageCosts> stage_costs(const plan::Program& program, const plan::ProgramUse& use,
                                    const StepSeconds& seconds,
                                    const std::vector<int64_t>& layers) {
  return Split(program, use, seconds, layers).costs();
}

}  // namespace cloze::forecast
