// What the processor can do, as far as cloze chooses kernels by it.
#pragma once

#include <string>
#include <vector>

namespace cloze::platform {

// Those present of: avx2, fma, avx512f, avx512bf16, amx-bf16. Empty on other architectures.
std::vector<std::string> processor_features();

}  // namespace cloze::platform
