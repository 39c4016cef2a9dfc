#include "backend/gpu/kernels.h"

#include <algorithm>
#include <deque>

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

template <typename Predicate>
bool any_type(const KernelRequest& request, const Predicate& predicate) {
  const auto holds = [&](const graph::TensorType& type) { return predicate(type.dtype); };
  return std::ranges::any_of(request.inputs, holds) || std::ranges::any_of(request.outputs, holds);
}

KernelsByOperator named_kernels() {
  static std::deque<std::string> names;
  KernelsByOperator kernels;
  const auto add = [&](KernelTable table) {
    for (const KernelRow& row : table) {
      std::string& name = names.emplace_back(kDeviceName);
      name += "/" + std::string(row.op->name);
      if (!row.variant.empty()) name += "/" + std::string(row.variant);
      kernels[row.op].push_back({name, row.refuse, row.create});
    }
  };
  add(global_norm_kernels());
  add(tiled_attention_kernels());
  add(tiled_attention_gradient_kernels());
#define CLOZE_ADD_KERNELS(family) add(family##_kernels());
  CLOZE_OPERATOR_FAMILIES(CLOZE_ADD_KERNELS)
#undef CLOZE_ADD_KERNELS
  return kernels;
}

}  // namespace

bool has_bf16(const KernelRequest& request) {
  return any_type(request, [](DType dtype) { return dtype == DType::kBF16; });
}

std::optional<std::string> refuse_other_storage(const KernelRequest& request) {
  const auto is_other = [](DType dtype) { return dtype == DType::kF16 || dtype == DType::kF64; };
  if (!any_type(request, is_other)) return std::nullopt;
  return "serves f32, and bf16 beside f32";
}

const KernelsByOperator& kernels_by_operator() {
  static const KernelsByOperator kernels = named_kernels();
  return kernels;
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
