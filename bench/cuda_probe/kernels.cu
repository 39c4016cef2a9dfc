#include "kernels.h"

#include <cuda_bf16.h>

#include "device.h"

namespace cloze::cuda_probe {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 2048;

// "lowbias32": each bit of the result depends on each of the argument.
__device__ uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

__device__ float uniform(uint32_t x) { return (static_cast<float>(mixed(x) >> 8) + 0.5f) * 0x1p-24f; }

__global__ void fill_normal(__nv_bfloat16* values, int64_t count, uint32_t seed) {
  for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < count; i += int64_t{kBlocks} * kThreads) {
    const auto place = static_cast<uint32_t>(i) ^ mixed(seed + static_cast<uint32_t>(i >> 32));
    const float radius = sqrtf(-2.0f * logf(uniform(place)));  // Box and Muller
    values[i] = __float2bfloat16(radius * cospif(2.0f * uniform(place ^ 0x9e3779b9U)));
  }
}

__global__ void copy(uint4* to, const uint4* from, int64_t count) {
  for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < count; i += int64_t{kBlocks} * kThreads) {
    to[i] = from[i];
  }
}

}  // namespace

void fill_normal_bf16(void* values, int64_t count, uint32_t seed) {
  fill_normal<<<kBlocks, kThreads>>>(static_cast<__nv_bfloat16*>(values), count, seed);
  check(cudaGetLastError(), "the kernel that fills with random numbers");
}

void copy_by_kernel(void* to, const void* from, int64_t bytes) {
  copy<<<kBlocks, kThreads>>>(static_cast<uint4*>(to), static_cast<const uint4*>(from), bytes / int64_t{sizeof(uint4)});
  check(cudaGetLastError(), "the kernel that copies");
}

int kernel_architecture() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, fill_normal), "a kernel's attributes");
  return attributes.binaryVersion * 10;
}

}  // namespace cloze::cuda_probe
