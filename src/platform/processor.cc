#include "platform/processor.h"

namespace cloze::platform {

std::vector<std::string> processor_features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  // The builtin takes literals only.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) features.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) features.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) features.emplace_back("avx512f");
  if (__builtin_cpu_supports("avx512bf16")) features.emplace_back("avx512bf16");
  if (__builtin_cpu_supports("amx-bf16")) features.emplace_back("amx-bf16");
#endif
  return features;
}

}  // namespace cloze::platform
