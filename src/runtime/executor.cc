#include "runtime/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>

#include "base/error.h"

namespace cloze::runtime {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueInfo;
using graph::ValueKind;
using graph::VariableRole;

// What a node writes: its outputs, and the inputs that it updates in place.
std::vector<graph::Value> written_by(const Node& node) {
  std::vector<graph::Value> written = node.outputs;
  for (const int input : node.op->mutated_inputs) written.push_back(node.inputs[input]);
  return written;
}

std::string describe_output(const ValueInfo& info) {
  return info.kind == ValueKind::kVariable ? info.name : "its output " + info.type.to_string();
}

std::string parameters_read_by(const Graph& graph, const Node& node) {
  std::vector<std::string> names;
  for (const graph::Value input : node.inputs) {
    const ValueInfo& info = graph.info(input);
    if (info.kind != ValueKind::kVariable) continue;
    if (info.role == VariableRole::kParameter) names.push_back(info.name);
    if (info.role == VariableRole::kComputeCopy) names.push_back(graph.info(info.master).name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Executor::Executor(plan::Program program, const BorrowedArenas& borrowed)
    : program_(std::move(program)) {
  place_arenas(borrowed);
  for (int phase = 0; phase < graph::kNumPhases; ++phase) {
    for (const plan::Launch& launch : program_.phases[phase]) {
      Bound bound{.kernel = launch.kernel.get()};
      for (const plan::Location& input : launch.inputs) bound.inputs.push_back(address(input));
      for (const plan::Location& output : launch.outputs) bound.outputs.push_back(address(output));
      bound_[phase].push_back(std::move(bound));
    }
  }
}

void Executor::place_arenas(const BorrowedArenas& borrowed) {
  const auto bytes_of = [&](plan::Arena arena) {
    return static_cast<size_t>(program_.arena_bytes[static_cast<size_t>(arena)]);
  };
  if (!borrowed.parameters.empty()) {
    CLOZE_CHECK(borrowed.parameters.size() == bytes_of(plan::Arena::kParameters),
                "{} bytes of parameters, not {}", borrowed.parameters.size(),
                bytes_of(plan::Arena::kParameters));
    // Kernels only read inputs.
    base(plan::Arena::kParameters) = const_cast<std::byte*>(borrowed.parameters.data());
  }
  for (const auto& [arena, memory] : {std::pair(plan::Arena::kActivations, borrowed.activations),
                                      std::pair(plan::Arena::kWorkspace, borrowed.workspace)}) {
    if (memory.empty()) continue;
    CLOZE_CHECK(memory.size() >= bytes_of(arena), "{} bytes of {}, not {}", memory.size(),
                name_of(arena), bytes_of(arena));
    base(arena) = memory.data();
  }
  for (int i = 0; i < plan::kNumArenas; ++i) {
    if (bases_[i] != nullptr) continue;
    arenas_[i] = platform::MemoryBlock(static_cast<size_t>(program_.arena_bytes[i]));
    bases_[i] = arenas_[i].data();
  }
}

std::byte* Executor::address(const plan::Location& location) const {
  return bases_[static_cast<size_t>(location.arena)] + location.offset;
}

void Executor::run(graph::Phase phase) {
  using Clock = std::chrono::steady_clock;
  void* const workspace = base(plan::Arena::kWorkspace);
  for (Bound& bound : bound_[static_cast<size_t>(phase)]) {
    const backend::KernelArguments arguments{bound.inputs, bound.outputs, workspace};
    if (!profiling_) {
      bound.kernel->run(arguments);
      continue;
    }
    const Clock::time_point start = Clock::now();
    bound.kernel->run(arguments);
    bound.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    ++bound.calls;
  }
}

std::optional<NonFiniteOutput> Executor::run_until_non_finite(graph::Phase phase) {
  void* const workspace = base(plan::Arena::kWorkspace);
  size_t launch = 0;
  for (const Node& node : graph().nodes()) {
    if (node.phase != phase) continue;
    Bound& bound = bound_[static_cast<size_t>(phase)][launch++];
    bound.kernel->run({bound.inputs, bound.outputs, workspace});
    if (auto found = find_non_finite_output(node)) return found;
  }
  return std::nullopt;
}

std::optional<NonFiniteOutput> Executor::find_non_finite_output(const Node& node) {
  for (const graph::Value value : written_by(node)) {
    const ValueInfo& info = graph().info(value);
    const auto element = find_non_finite(bytes(value), info.type.dtype);
    if (!element) continue;
    return NonFiniteOutput{.node = node.name,
                           .reads = parameters_read_by(graph(), node),
                           .tensor = describe_output(info),
                           .element = *element};
  }
  return std::nullopt;
}

std::span<std::byte> Executor::bytes(graph::Value value) {
  return {address(program_.locations[value.index]),
          static_cast<size_t>(program_.graph.type(value).bytes())};
}

void Executor::clear(plan::Arena arena) {
  platform::MemoryBlock& block = arenas_[static_cast<size_t>(arena)];
  if (block.size() > 0) std::memset(block.data(), 0, block.size());
}

std::vector<LaunchProfile> Executor::profile() const {
  std::vector<LaunchProfile> rows;
  for (int phase = 0; phase < graph::kNumPhases; ++phase) {
    for (size_t i = 0; i < bound_[phase].size(); ++i) {
      const plan::Launch& launch = program_.phases[phase][i];
      rows.push_back({launch.name, launch.op->name, launch.kernel_name, launch.flops,
                      bound_[phase][i].seconds, bound_[phase][i].calls});
    }
  }
  return rows;
}

}  // namespace cloze::runtime
