// The card: whether there is one, its memory, and time by its own events.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cloze::cuda_probe {

// What this machine lacks or a library refuses, as a sentence for the reader.
class ProbeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// CUDA's versions as it counts them: 13020 is 13.2; 0 is no driver.
struct CudaVersions {
  int driver;
  int runtime;
};

// Why no card can be used, or an empty text. `devices` is the result of cudaGetDeviceCount.
std::string driver_complaint(const CudaVersions& versions, cudaError_t devices, int count);

// Throws ProbeError with driver_complaint(), then writes a row about the card.
void require_card();

// Throws ProbeError that says what failed: "a copy to the card: out of memory".
void check(cudaError_t status, const std::string& what);

// Memory of the card. It is not cleared.
class Memory {
 public:
  explicit Memory(size_t bytes);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&& other) noexcept : data_(other.data_), bytes_(other.bytes_) { other.data_ = nullptr; }
  Memory& operator=(Memory&&) = delete;
  ~Memory() { cudaFree(data_); }

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

template <typename T>
Memory to_card(const std::vector<T>& values) {
  Memory memory(values.size() * sizeof(T));
  check(cudaMemcpy(memory.data(), values.data(), memory.bytes(), cudaMemcpyHostToDevice), "a copy to the card");
  return memory;
}

template <typename T>
std::vector<T> from_card(const Memory& memory) {
  std::vector<T> values(memory.bytes() / sizeof(T));
  check(cudaMemcpy(values.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost), "a copy from the card");
  return values;
}

// Median milliseconds of one call, by events, after two that are not counted.
double median_milliseconds(const std::function<void()>& run, int repetitions = 10);

}  // namespace cloze::cuda_probe
