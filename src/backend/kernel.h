// The interface of a backend: kernels for operators, chosen from an explicit, ordered table.
//
// A KernelEntry says whether it can serve a request (and if not, why) and makes a Kernel for it.
// The planner takes the first entry of the table that serves, and keeps the refusals for `cloze
// plan --kernels`. A Kernel is made once, when the program is compiled. On the CPU backend,
// run() allocates nothing, and throws only InternalError, before it writes.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/op.h"
#include "graph/tensor_type.h"

namespace cloze::graph {
class Graph;
}

namespace cloze::backend {

// A device as kernels are made for it, and how much of it a program may use, such as the threads of
// a processor, or the architecture of a card and its multiprocessors. Only the backend that made it
// looks inside.
class Target {
 public:
  virtual ~Target() = default;
  virtual std::string description() const = 0;  // "PROCESSOR, 2 threads, avx512": for reports
};

// The options of a device that a user sets. A backend leaves aside those that it has no use for.
struct TargetOptions {
  int threads = 0;  // of this machine; 0: one for each processor that this process may use
};

// What is asked for: the operator on these types.
struct KernelRequest {
  const graph::OpDefinition* op = nullptr;
  std::vector<graph::TensorType> inputs;
  std::vector<graph::TensorType> outputs;
  std::vector<bool> accumulates;  // per output: add to what is there
  std::any attributes;
  std::shared_ptr<const Target> target = {};  // null: the least that the backend makes kernels for

  template <typename Attributes>
  const Attributes& attributes_as() const {
    return std::any_cast<const Attributes&>(attributes);
  }
};

// A place in a device's memory. Only that device and its kernels may dereference it: as<T>() is for
// them.
class DeviceAddress {
 public:
  DeviceAddress() = default;
  explicit DeviceAddress(void* pointer) : pointer_(static_cast<std::byte*>(pointer)) {}

  DeviceAddress operator+(int64_t bytes) const { return DeviceAddress(pointer_ + bytes); }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(pointer_);
  }

 private:
  std::byte* pointer_ = nullptr;
};

// Addresses of one call, aligned as the backend says, in the order of the request's types.
struct KernelArguments {
  std::span<const DeviceAddress> inputs;  // those an operator mutates are written through
  std::span<const DeviceAddress> outputs;
  DeviceAddress workspace;

  template <typename T>
  T* input(size_t i) const {
    return inputs[i].as<T>();
  }
  template <typename T>
  T* output(size_t i) const {
    return outputs[i].as<T>();
  }
};

class Stream;  // backend/device.h

// Memory that a kernel keeps besides what is planned for it, such as code that a library generates.
struct KeptMemory {
  std::string shared_as;  // kernels that give the same name share it; empty: not shared
  int64_t bytes = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual size_t workspace_bytes() const { return 0; }
  // Kept from the kernel's creation until the process ends.
  virtual std::vector<KeptMemory> kept_memory() const { return {}; }
  // In the order of the stream: it may return before its work is done.
  virtual void run(const KernelArguments& arguments, Stream& stream) = 0;
};

struct KernelEntry {
  std::string_view name;  // "cpu/linear/packed"
  // Why this kernel cannot serve the request; empty when it can.
  std::optional<std::string> (*refuse)(const KernelRequest&);
  std::unique_ptr<Kernel> (*create)(const KernelRequest&);
};

// A pass over a graph, after which it computes the same in less time or memory on a kind of device.
struct GraphPass {
  std::string_view name;
  std::function<void(graph::Graph&)> run;
};

// Something that a file of packed weights says of their layout, such as "panel_columns" 32.
struct LayoutFact {
  std::string_view name;
  std::variant<bool, int64_t> value;
};

// A kind of device, as compiling sees it: which kernels it has and what they want.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // That its kernels compute with: results are the same bytes only where this is the same. "avx512"
  virtual std::string instruction_set() const = 0;
  // All addresses that its kernels are given are multiples of it, in bytes.
  virtual int64_t alignment() const { return 64; }  // a cache line, and the widest vector
  // UserError for options that no device of this kind has.
  virtual std::shared_ptr<const Target> target(const TargetOptions& options) const = 0;
  // Passes in the order in which they run: over a graph that is differentiated and has no update
  // yet; over a forward pass whose parameters are those of training; over one whose weights never
  // change, and are to be kept in f32 or bf16.
  virtual std::vector<GraphPass> training_passes() const = 0;
  virtual std::vector<GraphPass> evaluation_passes() const = 0;
  virtual std::vector<GraphPass> inference_passes(DType weights) const = 0;
  // Facts on the layout that inference_passes() give weights.
  virtual std::vector<LayoutFact> weight_layout(DType /*weights*/) const { return {}; }
  // Why weights of a file are of no use here, as the end of a sentence about it; empty when they
  // are. `there` has other values for the names of weight_layout().
  virtual std::optional<std::string> refuse_layout(DType /*weights*/,
                                                   std::span<const LayoutFact> /*there*/) const {
    return std::nullopt;
  }
  // Best first; empty when the operator is unknown here.
  virtual std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const = 0;
};

}  // namespace cloze::backend
