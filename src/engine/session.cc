#include "engine/session.h"

#include <algorithm>

#include "engine/backends.h"
#include "engine/initialize.h"
#include "platform/available_threads.h"

namespace cloze::engine {

using graph::VariableRole;

int resolved_threads(int64_t num_threads) {
  constexpr int kMostThreads = 1024;  // far more, and their stacks no longer fit
  if (num_threads < 0 || num_threads > kMostThreads) {
    throw_user_error("threads is {}; choose 1 to {}, or 0 for all processors", num_threads,
                     kMostThreads);
  }
  if (num_threads > 0) return static_cast<int>(num_threads);
  return std::min(platform::available_threads(), kMostThreads);
}

plan::Program compile(graph::Graph graph, const CompileOptions& options) {
  return plan::make_program(std::move(graph), backend_named(options.backend),
                            resolved_threads(options.num_threads));
}

Session::Session(graph::Graph graph, const CompileOptions& options)
    : Session(compile(std::move(graph), options)) {}

Session::Session(plan::Program program, const runtime::BorrowedArenas& borrowed)
    : executor_(std::move(program), borrowed) {}

void Session::initialize_parameters(uint64_t seed) {
  for (const graph::Value parameter : graph().variables(VariableRole::kParameter)) {
    const graph::ValueInfo& info = graph().info(parameter);
    initialize(values<float>(info.name), info.init, info.name, seed, program().num_threads);
  }
  refresh();
}

std::span<std::byte> Session::bytes(std::string_view name) {
  const auto value = graph().find(name);
  CLOZE_CHECK(value.has_value(), "no value named {}", name);
  return executor_.bytes(*value);
}

}  // namespace cloze::engine
