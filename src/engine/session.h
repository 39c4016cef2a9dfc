// Session: a compiled graph with its memory on a device, addressed by names. Values go in and come
// out by copy: the memory is the device's.
//
//   Session session(build_graph(), {.device = "cpu"});
//   session.initialize_parameters(seed);
//   session.write<int32_t>("input_ids", ids);
//   session.run(graph::kMicroStep);
//   const std::vector<float> logits = session.read<float>("logits");
//
// Errors: UserError for an unknown device; EnvironmentError when memory runs out; InternalError for
// names and sizes that the graph lacks. One thread calls it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bfloat16.h"
#include "base/float16.h"
#include "graph/graph.h"
#include "runtime/executor.h"

namespace cloze::engine {

struct CompileOptions {
  std::string device = "cpu";  // engine/devices.h
  backend::TargetOptions target;
  // Where optimiser states are kept aside (backend/device.h); empty: in the device's memory.
  std::filesystem::path optimizer_state_folder;
};

// Everything but the memory: what `cloze plan` and --compile-only look at.
plan::Program compile(graph::Graph graph, const CompileOptions& options);

class Session {
 public:
  Session(graph::Graph graph, const CompileOptions& options);
  Session(plan::Program program, backend::Device& device);
  Session(plan::Program program, backend::Device& device, runtime::SharedMemory shared);

  const graph::Graph& graph() const { return executor_.graph(); }
  const plan::Program& program() const { return executor_.program(); }
  runtime::Executor& executor() { return executor_; }

  // Drawn by so many threads of this machine; 0: one for each processor that this process may use.
  void initialize_parameters(uint64_t seed, int threads = 0);
  // Remakes what was made from parameters, such as packed weights. Needed after parameters were
  // written.
  void refresh();
  void run(std::string_view phase) { executor_.run(phase); }
  void finish() { executor_.finish(); }
  void clear(plan::Arena arena) { executor_.clear(arena); }

  bool has(std::string_view name) const { return graph().find(name).has_value(); }
  graph::Value value(std::string_view name) const;

  template <typename T>
  void write(std::string_view name, std::span<const T> values) {
    executor_.write(value(name), std::as_bytes(values));
  }
  template <typename T>
  void write_scalar(std::string_view name, T value) {
    write<T>(name, std::span<const T>(&value, 1));
  }
  template <typename T>
  std::vector<T> read(std::string_view name) {
    std::vector<T> values;
    read<T>(name, values);
    return values;
  }
  // The same into a vector that may have room for it already. Values of bf16 and f16 are read as
  // they are, or as float.
  template <typename T>
  void read(std::string_view name, std::vector<T>& values) {
    const graph::Value source = value(name);
    const graph::TensorType& type = graph().type(source);
    values.resize(static_cast<size_t>(type.shape.elements()));
    if constexpr (std::is_same_v<T, float>) {
      if (type.dtype == DType::kBF16) return read_halves<bfloat16>(source, values);
      if (type.dtype == DType::kF16) return read_halves<float16>(source, values);
    }
    executor_.read(source, std::as_writable_bytes(std::span(values)));
  }
  template <typename T>
  T read_scalar(std::string_view name) {
    T result{};
    executor_.read(value(name), std::as_writable_bytes(std::span(&result, 1)));
    return result;
  }

 private:
  template <typename Half>
  void read_halves(graph::Value source, std::vector<float>& values) {
    std::vector<Half> stored(values.size());
    executor_.read(source, std::as_writable_bytes(std::span(stored)));
    for (size_t i = 0; i < stored.size(); ++i) values[i] = static_cast<float>(stored[i]);
  }

  runtime::Executor executor_;
};

}  // namespace cloze::engine
