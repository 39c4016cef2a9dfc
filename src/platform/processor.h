// What the processor can do, as far as cloze chooses kernels by it.
#pragma once

#include <string>
#include <vector>

namespace cloze::platform {

// Those present of: avx2, fma, avx512f, avx512bf16, amx-bf16. Empty on other architectures.
std::vector<std::string> processor_features();

// Whether AMX's tiles can be used for bf16. Linux gives their state to processes that ask for it,
// which this does (Documentation/arch/x86/xstate.rst).
bool request_tiles();

}  // namespace cloze::platform
