// A stand-in for the part of CUDA's runtime that the device uses, on the host's memory, for tests without
// a card. It does what CUDA may do, at its latest: work of a stream waits until somebody waits for it. An
// error of that work is reported by each call that follows it.
//
// It is linked in place of CUDA's library. It finds: work given to a stream of another card than the
// thread's; memory that is freed while work of the card is under way; a copy from or to host memory that
// is not pinned, of which nobody knows when it ends.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

namespace cloze::backend::cuda::late_runtime {

// The machine, which tests change.
struct Machine {
  int driver_version = 13000;  // 0: no driver
  int runtime_version = 13000;
  cudaError_t error_of_count = cudaSuccess;
  std::vector<cudaDeviceProp> cards;
  size_t free_bytes = size_t{1} << 30;  // of each card, and of the host's pinned memory
  std::vector<std::string> findings;
};
// Everything is forgotten, and there are so many cards of architecture 9.0.
Machine& reset(int num_cards);
Machine& machine();

// Gives the stream work, as the launch of a kernel does.
cudaError_t give(cudaStream_t stream, std::function<cudaError_t()> work);

}  // namespace cloze::backend::cuda::late_runtime
