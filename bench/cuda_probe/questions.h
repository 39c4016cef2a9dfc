// What the CUDA backend's design has to know of cuBLASLt before it is written. Each question writes one row or more.
#pragma once

#include "cublas_lt.h"

namespace cloze::cuda_probe {

// GELU in double: x Phi(x), and the form with tanh.
double gelu_by_erf(double x);
double gelu_by_tanh(double x);

// Which form GELU's epilogues compute, and their largest error over [-8, 8].
void ask_gelu(const CublasLt& library);

// Whether a bias may be f32 where D is bf16, and is then added before D is rounded.
void ask_f32_bias(const CublasLt& library);

// Whether BGRADB goes with an f32 D that is added to, and whether it overwrites the bias's gradient or adds to it.
void ask_bias_gradient(const CublasLt& library);

// Whether a batch may be given by arrays of pointers: q, k and v at once, without a joined weight.
void ask_pointer_arrays(const CublasLt& library);

}  // namespace cloze::cuda_probe
