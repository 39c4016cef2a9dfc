// Call: one call of an operator's kernel, with its tensors as kernels take them.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include "backend/gpu/gpu.h"
#include "backend/gpu/launcher.h"
#include "backend/kernel.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

template <typename T>
constexpr DType dtype_of() {
  return std::is_same_v<std::remove_const_t<T>, bf16> ? DType::kBF16 : DType::kF32;
}

class Call {
 public:
  // All outlive it.
  Call(const KernelRequest& request, const KernelArguments& arguments, Launcher& launcher)
      : request_(request), arguments_(arguments), launcher_(launcher) {}

  // T: as the tensor is stored. Without a type: one that is not there.
  template <typename T>
  Global<const T> input(size_t i) const {
    if (!has_input(i)) return {};
    return launcher_.tensor("input " + std::to_string(i), arguments_.input<const T>(i),
                            request_.inputs[i].shape.elements());
  }
  // An input that the operator updates in place.
  template <typename T>
  Global<T> mutated(size_t i) const {
    return launcher_.tensor("input " + std::to_string(i), arguments_.input<T>(i),
                            request_.inputs[i].shape.elements());
  }
  template <typename T>
  Global<T> output(size_t i) const {
    if (i >= request_.outputs.size()) return {};
    return launcher_.tensor("output " + std::to_string(i), arguments_.output<T>(i),
                            request_.outputs[i].shape.elements());
  }
  // A tensor in the workspace, which tensors share one after the other.
  template <typename T>
  Global<T> workspace(int64_t offset_bytes, int64_t elements) const {
    return launcher_.tensor("the workspace", (arguments_.workspace + offset_bytes).as<T>(),
                            elements);
  }

  const KernelRequest& request() const { return request_; }
  bool has_input(size_t i) const { return i < request_.inputs.size(); }
  bool has_output(size_t i) const { return i < request_.outputs.size(); }
  bool accumulates(size_t output) const { return request_.accumulates[output]; }
  const Shape& input_shape(size_t i) const { return request_.inputs[i].shape; }
  const Shape& output_shape(size_t i) const { return request_.outputs[i].shape; }
  template <typename Attributes>
  const Attributes& attributes() const {
    return request_.attributes_as<Attributes>();
  }

  template <typename K>
  void launch(const Grid& grid, const typename K::Arguments& arguments) const {
    launcher_.launch<K>(grid, arguments);
  }
  // C = A B, or C += A B (product.h). The first kProductBytes of the workspace are the product's.
  template <typename T, typename C>
  void multiply(const ProductSizes& sizes, const Matrices<T, C>& of, bool accumulates = false,
                const std::source_location& place = std::source_location::current()) const {
    launcher_.multiply<T, C>({.sizes = sizes,
                              .a = of.a.layout,
                              .b = of.b.layout,
                              .c = of.c.layout,
                              .operands = dtype_of<T>(),
                              .result = dtype_of<C>(),
                              .accumulates = accumulates},
                             of, arguments_.workspace, place);
  }

 private:
  const KernelRequest& request_;
  const KernelArguments& arguments_;
  Launcher& launcher_;
};

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
