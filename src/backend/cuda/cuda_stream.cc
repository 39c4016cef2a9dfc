#include "backend/cuda/cuda_stream.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "backend/cuda/runtime_call.h"
#include "backend/gpu/card.h"
#include "base/error.h"

namespace cloze::backend::cuda {
namespace {

// EnvironmentError that names the launches which may have made the error.
void check_late(cudaError_t error, std::string_view what,
                const std::vector<std::string>& launches) {
  if (error == cudaSuccess) return;
  if (launches.empty()) check(error, what);
  cudaGetLastError();
  throw_environment_error(
      "the card failed after the launch of {}: {}; with CUDA_LAUNCH_BLOCKING=1 in the environment "
      "this message names the kernel",
      fmt::join(launches, ", "), reason_of(error));
}

class CudaEvent final : public Event {
 public:
  CudaEvent(int card, std::vector<std::string> launches)
      : card_(card), launches_(std::move(launches)) {
    check(cudaEventCreate(&event_), "an event");
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  void finish() const override {
    check_late(cudaSetDevice(card_), "the card", launches_);
    check_late(cudaEventSynchronize(event_), "the wait for an event", launches_);
  }
  cudaEvent_t handle() const { return event_; }

 private:
  int card_;
  cudaEvent_t event_ = nullptr;
  std::vector<std::string> launches_;  // before it
};

cudaEvent_t handle_of(const Event& event) { return static_cast<const CudaEvent&>(event).handle(); }

}  // namespace

CudaStream::CudaStream(int card) : card_(card) {
  use_card(card_);
  // One that the default stream does not wait for.
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
}

// CUDA does the work that is under way before it frees the stream.
CudaStream::~CudaStream() { cudaStreamDestroy(stream_); }

void CudaStream::require(cudaError_t error, std::string_view what) const {
  check_late(error, what, under_way_);
}

void CudaStream::use() const { require(cudaSetDevice(card_), "the card"); }

void CudaStream::begin_copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  use();
  require(cudaMemcpyAsync(target, source, bytes, kind, stream_), "a copy");
}

// Waits, since nobody says whether the source is memory that CUDA copies from later.
void CudaStream::copy_in(DeviceAddress target, std::span<const std::byte> source) {
  begin_copy_in(target, source);
  if (!source.empty()) finish();
}

void CudaStream::copy_out(DeviceAddress source, std::span<std::byte> target) {
  begin_copy_out(source, target);
  finish();
}

void CudaStream::begin_copy_in(DeviceAddress target, std::span<const std::byte> source) {
  begin_copy(target.as<void>(), source.data(), source.size(), cudaMemcpyHostToDevice);
}

void CudaStream::begin_copy_out(DeviceAddress source, std::span<std::byte> target) {
  begin_copy(target.data(), source.as<void>(), target.size(), cudaMemcpyDeviceToHost);
}

void CudaStream::copy(DeviceAddress target, DeviceAddress source, size_t bytes) {
  begin_copy(target.as<void>(), source.as<void>(), bytes, cudaMemcpyDeviceToDevice);
}

void CudaStream::fill_with_zeros(DeviceAddress target, size_t bytes) {
  if (bytes == 0) return;
  use();
  require(cudaMemsetAsync(target.as<void>(), 0, bytes, stream_), "zeros");
}

void CudaStream::add_launches(std::string_view name) {
  if (std::ranges::find(under_way_, name) == under_way_.end()) under_way_.emplace_back(name);
}

void CudaStream::launch(std::span<const BoundLaunch> launches, std::string_view name) {
  use();
  add_launches(name);
  try {
    for (const BoundLaunch& launch : launches) launch.kernel->run(launch.arguments(), *this);
  } catch (const EnvironmentError& error) {
    throw_environment_error("{}: {}", name, error.what());
  }
}

std::unique_ptr<Event> CudaStream::record() {
  use();
  auto event = std::make_unique<CudaEvent>(card_, under_way_);
  require(cudaEventRecord(event->handle(), stream_), "an event");
  return event;
}

void CudaStream::wait(const Event& event) {
  use();
  require(cudaStreamWaitEvent(stream_, handle_of(event), 0), "the wait for an event");
}

void CudaStream::finish() {
  use();
  require(cudaStreamSynchronize(stream_), "the wait for a stream");
  under_way_.clear();
}

double seconds_between(const Event& begin, const Event& end) {
  begin.finish();
  end.finish();
  float milliseconds = 0.0f;
  check(cudaEventElapsedTime(&milliseconds, handle_of(begin), handle_of(end)), "a time");
  return milliseconds / 1e3;
}

}  // namespace cloze::backend::cuda

namespace cloze::backend::gpu::inline card {

cudaStream_t stream_of(Stream& stream) { return static_cast<cuda::CudaStream&>(stream).handle(); }

// CUDA reports with a launch what an earlier kernel did wrong.
void check_launch(std::string_view kernel, cudaError_t error) {
  if (error == cudaSuccess) return;
  throw_environment_error("the launch of {}, or a kernel before it: {}", kernel,
                          cuda::reason_of(error));
}

}  // namespace cloze::backend::gpu::inline card
