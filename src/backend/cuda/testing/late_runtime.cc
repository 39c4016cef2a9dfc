#include "backend/cuda/testing/late_runtime.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <utility>

struct CUstream_st {
  int card = 0;
  std::deque<std::function<cudaError_t()>> work;
};

// A moment of a stream, which those who wait for it know even when the event is destroyed.
struct Moment {
  CUstream_st* stream = nullptr;
  bool is_done = false;
  double milliseconds = 0;
};

struct CUevent_st {
  std::shared_ptr<Moment> moment;
};

namespace cloze::backend::cuda::late_runtime {
namespace {

struct State {
  Machine machine;
  cudaError_t error = cudaSuccess;  // of work; from then on every call's
  int card = 0;                     // of the thread
  double milliseconds = 0;          // a millisecond for each piece of work
  CUstream_st default_stream;
  std::map<CUstream_st*, std::unique_ptr<CUstream_st>> streams;
  std::map<void*, size_t> memory, pinned;
};

State& state() {
  static State state;
  return state;
}

void find(std::string what) { state().machine.findings.push_back(std::move(what)); }

// A card's default stream is that of the thread's card.
CUstream_st& of(cudaStream_t stream) {
  if (stream != nullptr) return *stream;
  state().default_stream.card = state().card;
  return state().default_stream;
}

void run_all(CUstream_st& stream) {
  while (!stream.work.empty() && state().error == cudaSuccess) {
    const auto work = std::move(stream.work.front());
    stream.work.pop_front();
    ++state().milliseconds;
    state().error = work();
  }
}

bool lies_in(const std::map<void*, size_t>& blocks, const void* place, size_t bytes) {
  for (const auto& [start, size] : blocks) {
    const auto* const begin = static_cast<const std::byte*>(start);
    const auto* const at = static_cast<const std::byte*>(place);
    if (at >= begin && at + bytes <= begin + size) return true;
  }
  return false;
}

cudaError_t take(std::map<void*, size_t>& blocks, void** memory, size_t bytes) {
  size_t& free = state().machine.free_bytes;
  if (state().error != cudaSuccess) return state().error;
  if (bytes > free) return cudaErrorMemoryAllocation;
  free -= bytes;
  *memory = std::malloc(bytes);
  std::memset(*memory, 0xff, bytes);
  blocks[*memory] = bytes;
  return cudaSuccess;
}

void give_back(std::map<void*, size_t>& blocks, void* memory) {
  if (memory == nullptr) return;
  for (const auto& [stream, owned] : state().streams) {
    if (!stream->work.empty()) find("memory is freed while work is under way");
  }
  state().machine.free_bytes += blocks[memory];
  blocks.erase(memory);
  std::free(memory);
}

}  // namespace

Machine& reset(int num_cards) {
  for (auto* const blocks : {&state().memory, &state().pinned}) {
    for (const auto& [memory, bytes] : *blocks) std::free(memory);
  }
  state() = {};
  for (int i = 0; i < num_cards; ++i) {
    cudaDeviceProp card{};
    std::snprintf(card.name, sizeof card.name, "card %d", i);
    card.major = 9;
    card.multiProcessorCount = 132;
    card.totalGlobalMem = size_t{80} << 30;
    state().machine.cards.push_back(card);
  }
  return state().machine;
}

Machine& machine() { return state().machine; }

cudaError_t give(cudaStream_t stream, std::function<cudaError_t()> work) {
  if (of(stream).card != state().card) find("work for another card");
  if (state().error != cudaSuccess) return state().error;
  of(stream).work.push_back(std::move(work));
  return cudaSuccess;
}

}  // namespace cloze::backend::cuda::late_runtime

using cloze::backend::cuda::late_runtime::find;
using cloze::backend::cuda::late_runtime::give;
using cloze::backend::cuda::late_runtime::give_back;
using cloze::backend::cuda::late_runtime::lies_in;
using cloze::backend::cuda::late_runtime::of;
using cloze::backend::cuda::late_runtime::run_all;
using cloze::backend::cuda::late_runtime::state;
using cloze::backend::cuda::late_runtime::take;

// The functions of cuda_runtime_api.h.

cudaError_t cudaDriverGetVersion(int* version) {
  *version = state().machine.driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = state().machine.runtime_version;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(state().machine.cards.size());
  return state().machine.error_of_count;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* card, int number) {
  *card = state().machine.cards[static_cast<size_t>(number)];
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int number) {
  if (number >= static_cast<int>(state().machine.cards.size())) return cudaErrorInvalidDevice;
  state().card = number;
  return state().error;
}

cudaError_t cudaGetLastError() { return state().error; }
const char* cudaGetErrorString(cudaError_t) { return "what CUDA says"; }
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOther";
}

cudaError_t cudaMalloc(void** memory, size_t bytes) { return take(state().memory, memory, bytes); }
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  return take(state().pinned, memory, bytes);
}
cudaError_t cudaFree(void* memory) {
  give_back(state().memory, memory);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  give_back(state().pinned, memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = state().machine.free_bytes;
  *total = size_t{80} << 30;
  return cudaSuccess;
}

cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  if (!lies_in(state().memory, memory, bytes)) find("zeros outside the card's memory");
  return give(stream, [=] {
    std::memset(memory, value, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const bool comes_in = kind == cudaMemcpyHostToDevice, goes_out = kind == cudaMemcpyDeviceToHost;
  if (!comes_in && !lies_in(state().memory, source, bytes)) find("a copy from outside the card");
  if (!goes_out && !lies_in(state().memory, target, bytes)) find("a copy to outside the card");
  return give(stream, [=] {
    std::memcpy(target, source, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking) find("a stream that waits for the default one");
  auto owned = std::make_unique<CUstream_st>(CUstream_st{state().card, {}});
  *stream = owned.get();
  state().streams[*stream] = std::move(owned);
  return state().error;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  run_all(*stream);
  state().streams.erase(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  run_all(of(stream));
  return state().error;
}

cudaError_t cudaDeviceSynchronize() {
  for (const auto& [stream, owned] : state().streams) {
    if (stream->card == state().card) run_all(*stream);
  }
  return state().error;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return state().error;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->moment = std::make_shared<Moment>(Moment{.stream = stream});
  return give(stream, [moment = event->moment] {
    moment->is_done = true;
    moment->milliseconds = state().milliseconds;
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!event->moment->is_done) run_all(*event->moment->stream);
  return state().error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return give(stream, [moment = event->moment] {
    if (!moment->is_done) run_all(*moment->stream);
    return state().error;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  const Moment &first = *begin->moment, &last = *end->moment;
  if (!first.is_done || !last.is_done) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(last.milliseconds - first.milliseconds);
  return state().error;
}
