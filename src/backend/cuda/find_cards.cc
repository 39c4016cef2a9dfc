#include "backend/cuda/cards.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "backend/cuda/cublas_lt.h"
#include "backend/cuda/runtime_call.h"

namespace cloze::backend::cuda {
namespace {

std::string written(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Card card_of(int number) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, number), "the properties of a card");
  return {.name = properties.name,
          .memory_bytes = static_cast<int64_t>(properties.totalGlobalMem),
          .capability_major = properties.major,
          .capability_minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount};
}

// Says what the error of cudaGetDeviceCount() means.
void refuse(Cards& found, int driver, cudaError_t error) {
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  const std::string said = cudaGetErrorString(error);
  if (driver == 0) {
    found.refusal = fmt::format("no CUDA device: no NVIDIA driver is loaded (CUDA says: {})", said);
    found.advice = fmt::format("install a driver for CUDA {}", written(runtime));
  } else if (driver < runtime) {
    found.refusal = fmt::format(
        "the NVIDIA driver is too old: it serves CUDA {}, and this program needs {} (CUDA says: "
        "{})",
        written(driver), written(runtime), said);
    found.advice = "install a newer driver, or build with the nvcc of that CUDA";
  } else if (error == cudaErrorNoDevice) {
    found.refusal = fmt::format("no CUDA device: the driver shows no card (CUDA says: {})", said);
    found.advice = "see nvidia-smi and CUDA_VISIBLE_DEVICES";
  } else {
    found.refusal = fmt::format("the cards cannot be used (CUDA says: {})", said);
    found.advice = "see nvidia-smi";
  }
}

}  // namespace

Cards find_cards() {
  Cards found;
  int driver = 0, count = 0;
  cudaDriverGetVersion(&driver);
  if (driver > 0) found.driver = written(driver);
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    cudaGetLastError();  // or the next call would report it again
    refuse(found, driver, error == cudaSuccess ? cudaErrorNoDevice : error);
    return found;
  }
  for (int number = 0; number < count; ++number) found.cards.push_back(card_of(number));
  found.refusal = found.cards.front().refusal();
  if (!found.refusal.empty()) {
    found.refusal = fmt::format("{} has {}", found.cards.front().name, found.refusal);
    found.advice = "choose another card with CUDA_VISIBLE_DEVICES";
  }
  return found;
}

Cards without_products(Cards found, const std::string& refusal) {
  found.refusal = refusal;
  found.advice = kCublasLtAdvice;
  found.has_products = false;
  return found;
}

const Cards& cards() {
  static const Cards found = [] {
    Cards all = find_cards();
    if (all.cards.empty()) return all;
    const std::string& refusal = program_cublas_lt().refusal;
    return refusal.empty() ? all : without_products(std::move(all), refusal);
  }();
  return found;
}

}  // namespace cloze::backend::cuda
