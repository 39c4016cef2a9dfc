// Tells what the processor can do, as far as cloze chooses kernels by it.
#pragma once

#include <string>
#include <vector>

namespace cloze::platform {

// The features that are present, of avx2, fma, avx512f, avx512bf16, amx-bf16. Empty on other
// architectures.
std::vector<std::string> processor_features();

// The maker's name of it, "AMD EPYC 9654 96-Core Processor"; "unknown processor" where Linux does
// not say.
std::string processor_name();

// Says whether AMX's tiles can be used for bf16. Linux gives their state to processes that ask for
// it, which this does (Documentation/arch/x86/xstate.rst).
bool request_tiles();

// Says whether dot products of bf16 (AVX512-BF16) take longer than the multiply-adds of f32 that do
// the same work. They do on Intel's cores from Sapphire Rapids on (known by AVX512-FP16), which
// have tiles for bf16 that not every virtual machine shows: two cycles for what f32 does in one.
bool has_slow_dot_products();

}  // namespace cloze::platform
