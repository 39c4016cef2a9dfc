// Functions that the kernels of a card and its device (backend/cuda) call of each other. nvcc
// compiles the kernels, g++ the device.
#pragma once

#include <cuda_runtime.h>

#include <string_view>

#include "backend/device.h"
#include "backend/gpu/kernels_by_operator.h"

namespace cloze::backend::gpu::inline card {

// --- Defined by the device
cudaStream_t stream_of(Stream& stream);
// EnvironmentError that names the kernel when its launch failed.
void check_launch(std::string_view kernel, cudaError_t error);

// --- Defined by the kernels
// The kernels of each operator, called "cuda/OPERATOR" (kernels.h).
const KernelsByOperator& kernels_by_operator();

}  // namespace cloze::backend::gpu::inline card
