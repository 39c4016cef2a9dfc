// CudaStream: a stream of a CUDA card.
//
// CUDA finds errors of launches late, and reports them with whatever is called next; from then on
// every call fails. So each error is told with the names of the launches that may have made it: those
// since the stream was last known to be done.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/device.h"

namespace cloze::backend::cuda {

class CudaStream final : public Stream {
 public:
  explicit CudaStream(int card);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  void copy_in(DeviceAddress target, std::span<const std::byte> source) override;
  void copy_out(DeviceAddress source, std::span<std::byte> target) override;
  void begin_copy_in(DeviceAddress target, std::span<const std::byte> source) override;
  void begin_copy_out(DeviceAddress source, std::span<std::byte> target) override;
  void copy(DeviceAddress target, DeviceAddress source, size_t bytes) override;
  void fill_with_zeros(DeviceAddress target, size_t bytes) override;
  void launch(std::span<const BoundLaunch> launches, std::string_view name) override;
  std::unique_ptr<Event> record() override;
  void wait(const Event& event) override;
  void finish() override;

  int card() const { return card_; }
  cudaStream_t handle() const { return stream_; }

 private:
  void begin_copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);
  void add_launches(std::string_view name);
  void use() const;  // calls of this thread mean the stream's card
  void require(cudaError_t error, std::string_view what) const;

  int card_;
  cudaStream_t stream_ = nullptr;
  std::vector<std::string> under_way_;  // names of launches, each once
};

// Waits for both.
double seconds_between(const Event& begin, const Event& end);

}  // namespace cloze::backend::cuda
