// The kernels of a device, best first.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "backend/kernel.h"

namespace cloze::backend::gpu {

using KernelsByOperator = std::unordered_map<const graph::OpDefinition*, std::vector<KernelEntry>>;

// The kernels of an operator; none where it has none.
inline std::span<const KernelEntry> kernels_of(const KernelsByOperator& kernels,
                                               const graph::OpDefinition& op) {
  const auto found = kernels.find(&op);
  return found == kernels.end() ? std::span<const KernelEntry>() : found->second;
}

}  // namespace cloze::backend::gpu
