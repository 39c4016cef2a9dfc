// Executor: the memory of a program, and the loop that runs its launches.
//
// Owns one block per arena, zeroed at the start, unless it is given that of somebody else: several
// executors infer with one copy of the weights, and those that run in turn share the memory of
// their activations. Nothing is allocated after construction. One thread calls it; kernels use
// threads inside.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/program.h"
#include "platform/memory.h"
#include "runtime/non_finite.h"

namespace cloze::runtime {

// Time spent in one launch, over all runs so far.
struct LaunchProfile {
  std::string_view name;  // scope and operator
  std::string_view op;    // operator
  std::string_view kernel_name;
  double flops = 0.0;    // useful operations of one call
  double seconds = 0.0;  // total
  int64_t calls = 0;
};

// Arenas that are somebody else's and outlive the executor; empty: it owns them.
struct BorrowedArenas {
  std::span<const std::byte> parameters;  // of the arena's size; only read
  std::span<std::byte> activations;  // of its size or larger; what stands there is of no matter
  std::span<std::byte> workspace;    // likewise
};

class Executor {
 public:
  explicit Executor(plan::Program program, const BorrowedArenas& borrowed = {});

  void run(graph::Phase phase);
  // The same, looking at what each launch writes: stops after the first that writes a number that
  // is not finite.
  std::optional<NonFiniteOutput> run_until_non_finite(graph::Phase phase);

  // The bytes of a value. Inputs and variables at any time; outputs until the next run.
  std::span<std::byte> bytes(graph::Value value);
  void clear(plan::Arena arena);  // sets the whole arena to zero

  const plan::Program& program() const { return program_; }
  const graph::Graph& graph() const { return program_.graph; }

  // Profiling costs two clock readings per launch; off by default.
  void set_profiling(bool on) { profiling_ = on; }
  std::vector<LaunchProfile> profile() const;

 private:
  // A launch with its addresses resolved.
  struct Bound {
    backend::Kernel* kernel;
    std::vector<void*> inputs;
    std::vector<void*> outputs;
    double seconds = 0.0;
    int64_t calls = 0;
  };

  void place_arenas(const BorrowedArenas& borrowed);
  std::byte*& base(plan::Arena arena) { return bases_[static_cast<size_t>(arena)]; }
  std::byte* address(const plan::Location& location) const;
  std::optional<NonFiniteOutput> find_non_finite_output(const graph::Node& node);

  plan::Program program_;
  std::array<platform::MemoryBlock, plan::kNumArenas> arenas_;
  std::array<std::byte*, plan::kNumArenas> bases_{};
  std::array<std::vector<Bound>, graph::kNumPhases> bound_;
  bool profiling_ = false;
};

}  // namespace cloze::runtime
