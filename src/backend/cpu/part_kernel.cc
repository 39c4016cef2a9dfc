#include "backend/cpu/part_kernel.h"

#include <fmt/format.h>

#include "backend/cpu/native/matmul.h"
#include "backend/cpu/storage.h"

namespace cloze::backend::cpu {

std::optional<std::string> refuse_rounded_weights(const KernelRequest& request) {
  for (const int weight : request.op->weight_inputs) {
    const DType dtype = request.inputs[static_cast<size_t>(weight)].dtype;
    if (dtype != DType::kF32) return fmt::format("the weight is {}", name_of(dtype));
  }
  return std::nullopt;
}

std::optional<std::string> refuse_other_storage(DType dtype) {
  if (is_storage(dtype)) return std::nullopt;
  return fmt::format("{} is not f32, bf16 or f16", name_of(dtype));
}

std::optional<std::string> refuse_other_storage(const KernelRequest& request, size_t input) {
  if (auto why = refuse_rounded_weights(request)) return why;
  return refuse_other_storage(request.inputs[input].dtype);
}

std::optional<std::string> refuse_unless_f32(const KernelRequest& request) {
  for (const graph::TensorType& input : request.inputs) {
    if (is_floating(input.dtype) && input.dtype != DType::kF32) {
      return fmt::format("{} is not f32", name_of(input.dtype));
    }
  }
  return std::nullopt;
}

std::optional<std::string> refuse_unless_native_bf16(const KernelRequest& request, size_t input) {
  if (auto why = refuse_rounded_weights(request)) return why;
  const DType dtype = request.inputs[input].dtype;
  if (dtype != DType::kBF16) return std::string(name_of(dtype)) + " is not bf16";
  return refuse_native_bf16();
}

std::optional<std::string> serve_all(const KernelRequest&) { return std::nullopt; }

}  // namespace cloze::backend::cpu
