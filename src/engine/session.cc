#include "engine/session.h"

#include "base/error.h"
#include "engine/devices.h"
#include "engine/initialize.h"
#include "platform/available_threads.h"
#include "platform/memory.h"

namespace cloze::engine {

using graph::VariableRole;

plan::Program compile(graph::Graph graph, const CompileOptions& options) {
  return plan::make_program(std::move(graph), device_named(options.device).backend(),
                            options.target);
}

namespace {

runtime::Executor executor_of(plan::Program program, const CompileOptions& options) {
  backend::Device& device = device_named(options.device);
  runtime::SharedMemory memory{.stream = device.make_stream()};
  const auto bytes = static_cast<size_t>(program.bytes_of(plan::Arena::kOptimizerState));
  if (bytes > 0 && !options.optimizer_state_folder.empty()) {
    memory.arenas[plan::Arena::kOptimizerState] =
        device.allocate_aside(bytes, options.optimizer_state_folder);
  }
  return {std::move(program), device, std::move(memory)};
}

}  // namespace

Session::Session(graph::Graph graph, const CompileOptions& options)
    : executor_(executor_of(compile(std::move(graph), options), options)) {}

Session::Session(plan::Program program, backend::Device& device)
    : executor_(std::move(program), device) {}

Session::Session(plan::Program program, backend::Device& device, runtime::SharedMemory shared)
    : executor_(std::move(program), device, std::move(shared)) {}

void Session::initialize_parameters(uint64_t seed, int threads) {
  threads = platform::resolved_threads(threads);
  // Not from the heap, which may keep it when it is freed.
  const platform::MemoryBlock memory(
      static_cast<size_t>(graph().largest_bytes(VariableRole::kParameter)));
  for (const graph::Value parameter : graph().variables(VariableRole::kParameter)) {
    const graph::ValueInfo& info = graph().info(parameter);
    const std::span<float> values(reinterpret_cast<float*>(memory.data()),
                                  static_cast<size_t>(info.type.shape.elements()));
    initialize(values, info.init, info.name, seed, threads);
    write<float>(info.name, values);
  }
  refresh();
}

void Session::refresh() {
  if (graph().find_phase(graph::kRefresh)) run(graph::kRefresh);
}

graph::Value Session::value(std::string_view name) const {
  const auto found = graph().find(name);
  CLOZE_CHECK(found.has_value(), "no value named {}", name);
  return *found;
}

}  // namespace cloze::engine
