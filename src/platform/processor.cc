#include "platform/processor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

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

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

bool request_tiles() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return __builtin_cpu_supports("amx-bf16") &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

bool has_slow_dot_products() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512fp16");
#else
  return false;
#endif
}

}  // namespace cloze::platform
