// GELU of a run of elements: for the gelu operator, and for products by oneDNN, which apply it to
// rows that are still in the cache.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "ops/gelu.h"

namespace cloze::backend::cpu {

struct GeluRun {
  ops::GeluForm form = ops::GeluForm::kErf;
  DType dtype = DType::kF32;    // f32 | bf16 | f16, of x, dy and dx
  DType y_dtype = DType::kF32;  // dtype, or a half
  int64_t count = 0;            // elements
};

// y[i] = gelu(x[i]), on the calling thread; y may be x.
void gelu_elements(const GeluRun& run, const void* x, void* y);
// The same, on several threads.
void gelu_in_parts(const GeluRun& run, int num_threads, const void* x, void* y);
// dx[i] = dy[i] gelu'(x[i]), on the calling thread; dx may be dy or x.
void gelu_gradient_elements(const GeluRun& run, const void* dy, const void* x, void* dx);

}  // namespace cloze::backend::cpu
