#include "backend/cuda/card_device.h"

#include <cuda_runtime_api.h>

#include <cstring>

#include "backend/cuda/cuda_stream.h"
#include "backend/cuda/runtime_call.h"
#include "base/error.h"

namespace cloze::backend::cuda {
namespace {

class CardMemory final : public DeviceMemory {
 public:
  CardMemory(int card, size_t bytes) : card_(card), bytes_(bytes) {
    use_card(card_);
    if (bytes == 0) return;
    const cudaError_t error = cudaMalloc(&start_, bytes);
    if (error == cudaErrorMemoryAllocation) refuse();
    check(error, "memory of the card");
    // Streams do not wait for the default one, so this does.
    check(cudaMemset(start_, 0, bytes), "zeros");
    check(cudaStreamSynchronize(nullptr), "zeros");
  }
  // Errors have been told by then, or are the next call's.
  ~CardMemory() override {
    cudaSetDevice(card_);
    cudaDeviceSynchronize();
    cudaFree(start_);
  }
  CardMemory(const CardMemory&) = delete;
  CardMemory& operator=(const CardMemory&) = delete;

  DeviceAddress start() const override { return DeviceAddress(start_); }
  size_t bytes() const override { return bytes_; }

 private:
  [[noreturn]] void refuse() const {
    cudaGetLastError();
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw_environment_error(
        "cannot allocate {} MiB of memory of card {}, of whose {} MiB {} are free; choose smaller "
        "batches or a smaller model",
        bytes_ >> 20, card_, total >> 20, free >> 20);
  }

  int card_;
  size_t bytes_;
  void* start_ = nullptr;
};

// Pages that stay where they are, so that the card copies from and to them by itself.
class PinnedBlock final : public HostBlock {
 public:
  PinnedBlock(int card, size_t bytes) : bytes_(bytes) {
    use_card(card);
    if (bytes == 0) return;
    const cudaError_t error = cudaHostAlloc(&start_, bytes, cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw_environment_error(
          "cannot allocate {} MiB of the host's memory for copies to a card; choose smaller "
          "batches or a smaller model",
          bytes >> 20);
    }
    check(error, "memory of the host");
    std::memset(start_, 0, bytes);
  }
  ~PinnedBlock() override { cudaFreeHost(start_); }
  PinnedBlock(const PinnedBlock&) = delete;
  PinnedBlock& operator=(const PinnedBlock&) = delete;

  std::span<std::byte> bytes() const override { return {static_cast<std::byte*>(start_), bytes_}; }

 private:
  size_t bytes_;
  void* start_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceMemory> CardDevice::allocate(size_t bytes) {
  return std::make_unique<CardMemory>(card_, bytes);
}

std::unique_ptr<HostBlock> CardDevice::allocate_host(size_t bytes) {
  return std::make_unique<PinnedBlock>(card_, bytes);
}

std::unique_ptr<Stream> CardDevice::make_stream() { return std::make_unique<CudaStream>(card_); }

double CardDevice::seconds_between(const Event& begin, const Event& end) {
  return cuda::seconds_between(begin, end);
}

}  // namespace cloze::backend::cuda
