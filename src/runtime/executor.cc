#include "runtime/executor.h"

#include <chrono>
#include <cstring>

#include "base/error.h"

namespace cloze::runtime {

Executor::Executor(plan::Program program, std::span<const std::byte> parameters)
    : program_(std::move(program)) {
  for (int i = 0; i < plan::kNumArenas; ++i) {
    const auto bytes = static_cast<size_t>(program_.arena_bytes[i]);
    if (static_cast<plan::Arena>(i) == plan::Arena::kParameters && !parameters.empty()) {
      CLOZE_CHECK(parameters.size() == bytes, "{} bytes of parameters, not {}", parameters.size(),
                  bytes);
      bases_[i] = const_cast<std::byte*>(parameters.data());  // kernels only read inputs
      continue;
    }
    arenas_[i] = platform::MemoryBlock(bytes);
    bases_[i] = arenas_[i].data();
  }
  for (int phase = 0; phase < graph::kNumPhases; ++phase) {
    for (const plan::Launch& launch : program_.phases[phase]) {
      Bound bound{.kernel = launch.kernel.get()};
      for (const plan::Location& input : launch.inputs) bound.inputs.push_back(address(input));
      for (const plan::Location& output : launch.outputs) bound.outputs.push_back(address(output));
      bound_[phase].push_back(std::move(bound));
    }
  }
}

std::byte* Executor::address(const plan::Location& location) const {
  return bases_[static_cast<size_t>(location.arena)] + location.offset;
}

void Executor::run(graph::Phase phase) {
  using Clock = std::chrono::steady_clock;
  void* const workspace = arenas_[static_cast<size_t>(plan::Arena::kWorkspace)].data();
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
