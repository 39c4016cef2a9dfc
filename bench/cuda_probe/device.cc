#include "device.h"

#include <algorithm>

#include "row.h"

namespace cloze::cuda_probe {
namespace {

std::string written(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  cudaEvent_t get() const { return event_; }
  void record() { check(cudaEventRecord(event_), "an event"); }

 private:
  cudaEvent_t event_ = nullptr;
};

double milliseconds(const std::function<void()>& run, Event& first, Event& last) {
  first.record();
  run();
  last.record();
  check(cudaEventSynchronize(last.get()), "the timed work");
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, first.get(), last.get()), "a time");
  return elapsed;
}

}  // namespace

std::string driver_complaint(const CudaVersions& versions, cudaError_t devices, int count) {
  if (versions.driver == 0) return "no NVIDIA driver is loaded here; run this on a machine with a card";
  if (versions.driver < versions.runtime) {
    return "the driver knows CUDA " + written(versions.driver) + ", this program needs " + written(versions.runtime) +
           "; take a newer driver, or build with that CUDA's nvcc";
  }
  if (devices == cudaErrorNoDevice || (devices == cudaSuccess && count == 0)) {
    return "no CUDA device: the driver is there and shows no card (see nvidia-smi and CUDA_VISIBLE_DEVICES)";
  }
  if (devices != cudaSuccess) return std::string("the card cannot be used: ") + cudaGetErrorString(devices);
  return "";
}

void require_card() {
  CudaVersions versions{};
  int count = 0;
  cudaDriverGetVersion(&versions.driver);
  cudaRuntimeGetVersion(&versions.runtime);
  const cudaError_t devices = cudaGetDeviceCount(&count);
  if (const auto complaint = driver_complaint(versions, devices, count); !complaint.empty()) throw ProbeError(complaint);
  cudaDeviceProp card{};
  check(cudaGetDeviceProperties(&card, 0), "the card's properties");
  Row("card")
      .add("name", card.name)
      .add("compute_capability", std::to_string(card.major) + "." + std::to_string(card.minor))
      .add("multiprocessors", card.multiProcessorCount)
      .add("memory_gib", static_cast<double>(card.totalGlobalMem) / (1 << 30))
      .add("l2_mib", card.l2CacheSize / static_cast<double>(1 << 20))
      .add("driver_cuda", written(versions.driver))
      .add("runtime_cuda", written(versions.runtime))
      .write();
}

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report this one again
  throw ProbeError(what + ": " + cudaGetErrorString(status));
}

Memory::Memory(size_t bytes) : bytes_(bytes) {
  check(cudaMalloc(&data_, bytes), std::to_string(bytes >> 20) + " MiB of the card's memory");
}

double median_milliseconds(const std::function<void()>& run, int repetitions) {
  Event first, last;
  for (int i = 0; i < 2; ++i) run();
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(milliseconds(run, first, last));
  const auto middle = times.begin() + repetitions / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace cloze::cuda_probe
