// Session: a compiled graph with its memory, addressed by names.
//
//   Session session(build_graph(), {.backend = "cpu"});
//   session.initialize_parameters(seed);
//   session.write<int32_t>("input_ids", ids);
//   session.run(Phase::kMicroStep);
//
// Errors: UserError for an unknown backend; EnvironmentError when memory runs out. One thread calls
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "runtime/executor.h"

namespace cloze::engine {

struct CompileOptions {
  std::string backend = "cpu";
  int num_threads = 0;  // 0: one for each processor this process may use
};

int resolved_threads(int64_t num_threads);

// Everything but the memory: what `cloze plan` and --compile-only look at.
plan::Program compile(graph::Graph graph, const CompileOptions& options);

class Session {
 public:
  Session(graph::Graph graph, const CompileOptions& options);
  explicit Session(plan::Program program, const runtime::BorrowedArenas& borrowed = {});

  const graph::Graph& graph() const { return executor_.graph(); }
  const plan::Program& program() const { return executor_.program(); }
  runtime::Executor& executor() { return executor_; }

  void initialize_parameters(uint64_t seed);
  // Makes again what was made of parameters, as packed weights are. Needed after these were
  // written.
  void refresh() { executor_.run(graph::Phase::kRefresh); }
  void run(graph::Phase phase) { executor_.run(phase); }
  void clear(plan::Arena arena) { executor_.clear(arena); }

  std::span<std::byte> bytes(std::string_view name);
  bool has(std::string_view name) const { return graph().find(name).has_value(); }

  template <typename T>
  std::span<T> values(std::string_view name) {
    const std::span<std::byte> raw = bytes(name);
    return {reinterpret_cast<T*>(raw.data()), raw.size() / sizeof(T)};
  }
  template <typename T>
  void write(std::string_view name, std::span<const T> source) {
    const std::span<T> target = values<T>(name);
    CLOZE_CHECK(source.size() == target.size(), "{}: {} elements written to {}", name,
                source.size(), target.size());
    std::copy(source.begin(), source.end(), target.begin());
  }
  template <typename T>
  void write_scalar(std::string_view name, T value) {
    write<T>(name, std::span<const T>(&value, 1));
  }

 private:
  runtime::Executor executor_;
};

}  // namespace cloze::engine
