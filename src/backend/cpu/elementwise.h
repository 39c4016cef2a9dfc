// GELU of a run of elements, for products by oneDNN, while their rows are still in the cache.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "ops/gelu.h"

namespace cloze::backend::cpu {

struct GeluRun {
  ops::GeluForm form = ops::GeluForm::kErf;
  DType dtype = DType::kF32;    // f32 | bf16 | f16, of x
  DType y_dtype = DType::kF32;  // dtype, bf16 or f16
  int64_t count = 0;            // elements
};

// y[i] = gelu(x[i]); y may be x.
void gelu_of_run(const GeluRun& run, const void* x, void* y);

}  // namespace cloze::backend::cpu
