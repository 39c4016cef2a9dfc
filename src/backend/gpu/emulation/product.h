// The stand-in for cuBLASLt: a product (product.h) on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/gpu/emulation/findings.h"
#include "backend/gpu/emulation/global_memory.h"
#include "backend/gpu/product.h"

namespace cloze::backend::gpu::emulation {

// A matrix begins at element `first` of a tensor; null: one that is not there.
struct Operand {
  const void* tensor = nullptr;
  Region* region = nullptr;
  int64_t first = 0;
};
struct Operands {
  Operand a, b, c;
};

// Computes it in f32, each sum in the order of its terms, unless that is a finding: a matrix that is
// not there or goes beyond its tensor, or a C that shares memory with A or B.
void multiply(const Product& product, const Operands& operands, const Place& place,
              Findings& findings);

}  // namespace cloze::backend::gpu::emulation
