// The reference backend: scalar kernels for every operator, which define the correct result.
// Serves f32, bf16 and f16 activations, and f64 throughout (every floating tensor of the request in
// f64), which tests use as the exact answer. One thread, whatever the request says.
#pragma once

#include "backend/device.h"

namespace cloze::backend::reference {

const Backend& backend();
Device& device();

// Every operator there is, family by family (backend/operator_families.h).
std::span<const graph::OpDefinition* const> operators();

}  // namespace cloze::backend::reference
