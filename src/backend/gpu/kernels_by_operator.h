// The kernels of a device, best first.
#pragma once

#include <unordered_map>
#include <vector>

#include "backend/kernel.h"

namespace cloze::backend::gpu {

using KernelsByOperator = std::unordered_map<const graph::OpDefinition*, std::vector<KernelEntry>>;

}  // namespace cloze::backend::gpu
