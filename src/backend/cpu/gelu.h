// GELU of a run of elements, on the calling thread: for the gelu operator, and for products that
// apply it to a block while the block is in cache.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "ops/gelu.h"

namespace cloze::backend::cpu {

struct GeluRun {
  ops::GeluForm form = ops::GeluForm::kErf;
  DType dtype = DType::kF32;  // f32 | bf16, of x, y, dy and dx
  int64_t count = 0;          // elements
};

// y[i] = gelu(x[i]); y may be x.
void gelu_elements(const GeluRun& run, const void* x, void* y);
// dx[i] = dy[i] gelu'(x[i]); dx may be dy or x.
void gelu_gradient_elements(const GeluRun& run, const void* dy, const void* x, void* dx);

}  // namespace cloze::backend::cpu
