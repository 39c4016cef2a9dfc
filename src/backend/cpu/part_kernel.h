// PartKernel: a kernel whose work consists of independent parts; and what tables of kernels share:
// how a kernel is made, and refusals.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "backend/cpu/parallel.h"
#include "backend/cpu/workspace.h"
#include "backend/host/host_target.h"
#include "backend/kernel.h"

namespace cloze::backend::cpu {

// One part of a call; scratch is its thread's own (64-byte aligned).
using RunPart = void (*)(const KernelRequest&, const KernelArguments&, const Part&, void* scratch);

class PartKernel final : public Kernel {
 public:
  PartKernel(const KernelRequest& request, const Work& work, RunPart run_part,
             size_t scratch_bytes = 0)
      : request_(request),
        work_(work),
        run_part_(run_part),
        scratch_bytes_(whole_lines(scratch_bytes)) {}

  size_t workspace_bytes() const override { return scratch_bytes_ * num_workers(work_); }

  void run(const KernelArguments& arguments, Stream&) override {
    for_each_part(work_, [&](const Part& part) {
      char* scratch = arguments.workspace.as<char>() + scratch_bytes_ * part.thread;
      run_part_(request_, arguments, part, scratch);
    });
  }

 private:
  KernelRequest request_;
  Work work_;
  RunPart run_part_;
  size_t scratch_bytes_;
};

// Fewer elements than this are not worth a part of their own.
inline constexpr int64_t kLeastElements = 16384;
// Sums over elements are kept per block of this many, whichever thread computes it, and added in
// order.
inline constexpr int64_t kNormBlockElements = 32768;
inline constexpr int64_t kLambBlockElements = 16384;

// Parts made of whole cache lines of elements.
inline Work element_work(int64_t elements, int num_threads) {
  return {.items = elements,
          .granularity = 64,
          .least_items = kLeastElements,
          .num_threads = num_threads};
}
inline Work element_work(const KernelRequest& request, int64_t elements) {
  return element_work(elements, host::threads_of(request));
}

inline Work row_work(int64_t rows, int64_t row_elements, int num_threads) {
  return {.items = rows,
          .least_items = std::max<int64_t>(1, kLeastElements / std::max<int64_t>(1, row_elements)),
          .num_threads = num_threads};
}
inline Work row_work(const KernelRequest& request, int64_t rows, int64_t row_elements) {
  return row_work(rows, row_elements, host::threads_of(request));
}

// KernelEntry::create of a kernel whose parts are elements of the first output, or rows of it, each
// thread with kScratchRows rows of floats as scratch.
template <RunPart kRunPart>
std::unique_ptr<Kernel> create_element_kernel(const KernelRequest& request) {
  const Work work = element_work(request, request.outputs.front().shape.elements());
  return std::make_unique<PartKernel>(request, work, kRunPart);
}
template <RunPart kRunPart, size_t kScratchRows = 0>
std::unique_ptr<Kernel> create_row_kernel(const KernelRequest& request) {
  const Shape& shape = request.outputs.front().shape;
  return std::make_unique<PartKernel>(request, row_work(request, shape[0], shape[1]), kRunPart,
                                      kScratchRows * static_cast<size_t>(shape[1]) * sizeof(float));
}

// A RunPart that calls Function (Highway's HWY_EXPORT) as compiled for the instruction set in use.
#define CLOZE_DISPATCH_PART(Function)                                                  \
  [](const KernelRequest& request, const KernelArguments& arguments, const Part& part, \
     void* scratch) {                                                                  \
    HWY_DYNAMIC_DISPATCH(Function)                                                     \
    (request, arguments, part, scratch);                                               \
  }

// KernelEntry::create of a kernel that needs nothing but the request.
template <class K>
std::unique_ptr<Kernel> create_kernel(const KernelRequest& request) {
  return std::make_unique<K>(request);
}

std::optional<std::string> refuse_other_storage(DType dtype);
// Refuses other activations, whose dtype is that of the first input or of the one of that number, and
// weights that are rounded: no pass of the CPU keeps such copies.
std::optional<std::string> refuse_other_storage(const KernelRequest& request, size_t input);
template <size_t kInput = 0>
std::optional<std::string> refuse_other_storage(const KernelRequest& request) {
  return refuse_other_storage(request, kInput);
}
std::optional<std::string> refuse_unless_f32(const KernelRequest& request);  // every input
std::optional<std::string> refuse_rounded_weights(const KernelRequest& request);
// The first input, or the one of that number, is bf16, and the processor has units for it
// (matmul.h); weights are f32.
std::optional<std::string> refuse_unless_native_bf16(const KernelRequest& request, size_t input);
template <size_t kInput = 0>
std::optional<std::string> refuse_unless_native_bf16(const KernelRequest& request) {
  return refuse_unless_native_bf16(request, kInput);
}
std::optional<std::string> serve_all(const KernelRequest& request);

// What the parts of an update find, written to its input `check` when all are done.
class FiniteCheck {
 public:
  // `check` becomes NaN when a part wrote a number that is not finite.
  explicit FiniteCheck(float* check) : check_(check) {}
  ~FiniteCheck() {
    if (!is_finite_) *check_ = std::numeric_limits<float>::quiet_NaN();
  }
  FiniteCheck(const FiniteCheck&) = delete;
  FiniteCheck& operator=(const FiniteCheck&) = delete;

  void add(bool part_is_finite) {
    if (!part_is_finite) is_finite_ = false;
  }

 private:
  float* check_;
  std::atomic<bool> is_finite_ = true;
};

}  // namespace cloze::backend::cpu
