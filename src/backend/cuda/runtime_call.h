// Calls of CUDA's runtime that may fail.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace cloze::backend::cuda {

// "an illegal memory access was encountered (cudaErrorIllegalAddress)"
std::string reason_of(cudaError_t error);

// EnvironmentError "WHAT: REASON" where the call failed. `what` is the thing: "an event".
void check(cudaError_t error, std::string_view what);

// Calls of this thread that name no card mean this one.
void use_card(int number);

}  // namespace cloze::backend::cuda
