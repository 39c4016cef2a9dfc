// Program: a compiled training step. Each phase is a flat list of kernel launches with planned
// addresses. A program determines all memory in advance: the executor allocates it once, and a run
// allocates nothing.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/kernel.h"
#include "base/division.h"
#include "graph/graph.h"

namespace cloze::plan {

// One block of memory each. Persistent ones first.
enum class Arena {
  kParameters,
  kComputeCopies,
  kGradients,
  kOptimizerState,
  kMetrics,
  kInputs,
  kActivations,
  kWorkspace,
};
inline constexpr int kNumArenas = 8;
std::string_view name_of(Arena arena);

struct Location {
  Arena arena = Arena::kActivations;
  int64_t offset = 0;  // bytes
};

struct Launch {
  std::string name;         // of the node: scope and operator
  std::string kernel_name;  // "cpu/linear/..."
  const graph::OpDefinition* op = nullptr;
  std::shared_ptr<backend::Kernel> kernel;
  std::vector<Location> inputs;
  std::vector<Location> outputs;
  double flops = 0.0;                 // useful operations of one call
  std::vector<std::string> refusals;  // "kernel: reason" of better entries that could not serve
};

struct Program {
  graph::Graph graph;
  std::vector<std::vector<Launch>> phases;  // as graph.phases()
  std::array<int64_t, kNumArenas> arena_bytes{};
  int64_t kernel_bytes = 0;                       // that kernels keep beside the arenas
  std::vector<Location> locations;                // by value
  std::shared_ptr<const backend::Target> target;  // that its kernels are made for

  int64_t alignment = 1;  // of all locations, in bytes

  // The bytes that a value or a workspace of so many takes.
  int64_t aligned(int64_t bytes) const { return round_up(bytes, alignment); }
  int64_t bytes_of(Arena arena) const { return arena_bytes[static_cast<size_t>(arena)]; }
  int64_t total_bytes() const;  // of all arenas and kernels
};

// Chooses kernels and addresses. UserError for options that the backend has no target for,
// and when it has no kernel for a node.
Program make_program(graph::Graph graph, const backend::Backend& backend,
                     const backend::TargetOptions& options);

}  // namespace cloze::plan
