// The interface of a backend: kernels for operators, chosen from an explicit, ordered table.
//
// A KernelEntry says whether it can serve a request (and if not, why) and makes a Kernel for it.
// The planner takes the first entry of the table that serves, and keeps the refusals for `cloze
// plan --kernels`. A Kernel is made once, when the program is compiled; run() allocates nothing.
#pragma once

#include <any>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"
#include "graph/tensor_type.h"

namespace cloze::backend {

// What is asked for: the operator on these types.
struct KernelRequest {
  const graph::OpDefinition* op = nullptr;
  std::vector<graph::TensorType> inputs;
  std::vector<graph::TensorType> outputs;
  std::vector<bool> accumulates;  // per output: add to what is there
  std::any attributes;
  int num_threads = 1;

  template <typename Attributes>
  const Attributes& attributes_as() const {
    return std::any_cast<const Attributes&>(attributes);
  }
};

// Addresses of one call, 64-byte aligned, in the order of the request's types.
struct KernelArguments {
  std::span<void* const> inputs;  // those an operator mutates are written through
  std::span<void* const> outputs;
  void* workspace = nullptr;

  template <typename T>
  T* input(size_t i) const {
    return static_cast<T*>(inputs[i]);
  }
  template <typename T>
  T* output(size_t i) const {
    return static_cast<T*>(outputs[i]);
  }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual size_t workspace_bytes() const { return 0; }
  virtual void run(const KernelArguments& arguments) = 0;
};

struct KernelEntry {
  std::string_view name;  // "cpu/linear/packed"
  // Why this kernel cannot serve the request; empty when it can.
  std::optional<std::string> (*refuse)(const KernelRequest&);
  std::unique_ptr<Kernel> (*create)(const KernelRequest&);
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // How wide the panels of packed weights are to be (ops/packed_linear.h); 0: do not pack them.
  virtual int64_t panel_columns() const { return 0; }
  // Whether the processor multiplies bf16 itself, faster than f32.
  virtual bool multiplies_bf16() const { return false; }
  // Best first; empty when the operator is unknown here.
  virtual std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const = 0;
};

}  // namespace cloze::backend
