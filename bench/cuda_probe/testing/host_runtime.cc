// The part of CUDA's runtime that the probe uses, on the host's memory: so the probe runs without a card, and
// AddressSanitizer watches the buffers. One card of architecture 9.0, and a clock that counts calls.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "kernels.h"

namespace {

float g_clock = 0;

}  // namespace

struct CUevent_st {
  float at = 0;
};

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* card, int) {
  *card = {};
  std::snprintf(card->name, sizeof card->name, "emulated");
  card->major = 9;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an emulated error"; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

// With FAKE_CARD=errs the first bit that comes from the card is wrong.
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  std::memcpy(to, from, bytes);
  const char* fake = std::getenv("FAKE_CARD");
  if (kind == cudaMemcpyDeviceToHost && fake != nullptr && std::strcmp(fake, "errs") == 0) *static_cast<char*>(to) ^= 1;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->at = ++g_clock;
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t last) {
  *milliseconds = last->at - first->at;
  return cudaSuccess;
}

}  // extern "C"

namespace cloze::cuda_probe {

void fill_normal_bf16(void* values, int64_t count, uint32_t seed) {
  std::minstd_rand generator(seed);
  auto* halves = static_cast<__nv_bfloat16*>(values);
  for (int64_t i = 0; i < count; ++i) halves[i] = __float2bfloat16(static_cast<float>(generator() % 256) / 64 - 2);
}

void copy_by_kernel(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, bytes); }

int kernel_architecture() { return 900; }

}  // namespace cloze::cuda_probe
