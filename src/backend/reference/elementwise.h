// The scalar GELU (ops/gelu.h), for its own kernels and for products that end with it.
#pragma once

#include "ops/gelu.h"

namespace cloze::backend::reference {

double gelu_value(ops::GeluForm form, double x);
double gelu_slope(ops::GeluForm form, double x);  // d gelu / dx

}  // namespace cloze::backend::reference
