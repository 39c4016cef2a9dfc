#include "backend/cuda/runtime_call.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cloze::backend::cuda {

std::string reason_of(cudaError_t error) {
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

void check(cudaError_t error, std::string_view what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next call would report it again
  throw_environment_error("CUDA, {}: {}", what, reason_of(error));
}

void use_card(int number) { check(cudaSetDevice(number), fmt::format("card {}", number)); }

}  // namespace cloze::backend::cuda
