// Executor: the memory of a program, and the loop that runs its launches.
//
// Owns one block per arena, zeroed at the start; the parameters may be somebody else's, so that
// several executors infer with one copy of the weights. Nothing is allocated after construction.
// One thread calls it; kernels use threads inside.
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

class Executor {
 public:
  // `parameters`: the parameter arena, which must outlive this and is then only read; empty: owns
  // it.
  explicit Executor(plan::Program program, std::span<const std::byte> parameters = {});

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

  std::byte* address(const plan::Location& location) const;
  std::optional<NonFiniteOutput> find_non_finite_output(const graph::Node& node);

  plan::Program program_;
  std::array<platform::MemoryBlock, plan::kNumArenas> arenas_;
  std::array<std::byte*, plan::kNumArenas> bases_{};
  std::array<std::vector<Bound>, graph::kNumPhases> bound_;
  bool profiling_ = false;
};

}  // namespace cloze::runtime
