#include "plan/program.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "plan/kept_bytes.h"
#include "plan/kernel_choice.h"
#include "plan/lifetimes.h"
#include "plan/memory_plan.h"

namespace cloze::plan {
namespace {

using graph::Graph;
using graph::Node;
using graph::Phase;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;
using graph::VariableRole;

Arena arena_of(const ValueInfo& info) {
  if (info.kind == ValueKind::kInput) return Arena::kInputs;
  if (info.kind == ValueKind::kIntermediate) return Arena::kActivations;
  switch (info.role) {
    case VariableRole::kParameter:
      return Arena::kParameters;
    case VariableRole::kComputeCopy:
      return Arena::kComputeCopies;
    case VariableRole::kGradient:
      return Arena::kGradients;
    case VariableRole::kOptimizerState:
      return Arena::kOptimizerState;
    case VariableRole::kMetric:
      return Arena::kMetrics;
  }
  throw InternalError("unknown role");
}

class Planner {
 public:
  Planner(Graph graph, const backend::Backend& backend, const backend::TargetOptions& options)
      : backend_(backend) {
    program_.target = backend.target(options);
    program_.alignment = backend.alignment();
    program_.graph = std::move(graph);
    program_.graph.verify();
    program_.locations.resize(program_.graph.num_values());
  }

  Program plan() && {
    place_persistent_values();
    const auto num_phases = static_cast<int32_t>(program_.graph.phases().size());
    for (int32_t phase = 0; phase < num_phases; ++phase) place_intermediates({phase});
    program_.phases.resize(program_.graph.phases().size());
    for (const Node& node : program_.graph.nodes()) add_launch(node);
    program_.kernel_bytes = kept_.bytes();
    return std::move(program_);
  }

 private:
  int64_t& arena_bytes(Arena arena) { return program_.arena_bytes[static_cast<size_t>(arena)]; }

  void place_persistent_values() {
    for (int32_t i = 0; i < program_.graph.num_values(); ++i) {
      const ValueInfo& info = program_.graph.info({i});
      const Arena arena = arena_of(info);
      if (arena == Arena::kActivations) continue;
      program_.locations[i] = {arena, arena_bytes(arena)};
      arena_bytes(arena) += program_.aligned(info.type.bytes());
    }
  }

  // Phases run one after the other, so they share the arena.
  void place_intermediates(Phase phase) {
    const std::vector<std::optional<Lifetime>> by_value = lifetimes_of(program_.graph, phase);
    std::vector<Lifetime> lifetimes;
    std::vector<int32_t> values;
    for (int32_t i = 0; i < program_.graph.num_values(); ++i) {
      if (!by_value[i]) continue;
      lifetimes.push_back(*by_value[i]);
      values.push_back(i);
    }
    const MemoryPlan memory = plan_memory(lifetimes, program_.alignment);
    for (size_t i = 0; i < values.size(); ++i) {
      program_.locations[values[i]] = {Arena::kActivations, memory.offsets[i]};
    }
    arena_bytes(Arena::kActivations) =
        std::max(arena_bytes(Arena::kActivations), memory.total_bytes);
  }

  void add_launch(const Node& node) {
    const backend::KernelRequest request = request_of(program_.graph, node, program_.target);
    KernelChoice choice = choose_kernel(backend_, request);
    Launch launch{.name = node.name(),
                  .kernel_name = std::move(choice.name),
                  .op = node.op,
                  .kernel = std::move(choice.kernel),
                  .refusals = std::move(choice.refusals)};
    if (node.op->flops != nullptr) launch.flops = node.op->flops(request.inputs, node.attributes);
    for (const Value value : node.inputs) launch.inputs.push_back(program_.locations[value.index]);
    for (const Value value : node.outputs) {
      launch.outputs.push_back(program_.locations[value.index]);
    }
    const auto workspace = static_cast<int64_t>(launch.kernel->workspace_bytes());
    arena_bytes(Arena::kWorkspace) =
        std::max(arena_bytes(Arena::kWorkspace), program_.aligned(workspace));
    kept_.add(launch.kernel->kept_memory());
    program_.phases[static_cast<size_t>(node.phase.index)].push_back(std::move(launch));
  }

  const backend::Backend& backend_;
  Program program_;
  KeptBytes kept_;
};

}  // namespace

std::string_view name_of(Arena arena) {
  constexpr std::string_view kNames[kNumArenas] = {"parameters",      "compute copies", "gradients",
                                                   "optimizer state", "metrics",        "inputs",
                                                   "activations",     "workspace"};
  return kNames[static_cast<size_t>(arena)];
}

int64_t Program::total_bytes() const {
  return std::accumulate(arena_bytes.begin(), arena_bytes.end(), kernel_bytes);
}

Program make_program(Graph graph, const backend::Backend& backend,
                     const backend::TargetOptions& options) {
  return Planner(std::move(graph), backend, options).plan();
}

}  // namespace cloze::plan
