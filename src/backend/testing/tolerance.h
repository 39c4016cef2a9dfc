// How far a kernel may be from the exact result: computed from dtypes, the number of terms summed
// and measured norms. No test of a backend has a literal tolerance anywhere else.
//
//   tolerance[i] = u_out |expected[i]| + safety * (u_through + growth(K) u_f32) * scale[i]
//                  + absolute + smallest + step_out / 2 + step_through / 2
//
// u_out      unit round-off of the output's dtype: one rounding when it is written;
// u_through  unit round-off of intermediate results that may be stored in a narrower dtype;
// u_f32      unit round-off of f32, in which everything is summed;
// growth(K)  1 + sqrt(K): how round-off grows over a sum of K terms, as a random walk;
// scale      how much the element, or the elements of its row on average, change per unit of
//            relative change of the inputs (measured on the reference in double), or |expected|.
// absolute   what the operator itself may be off by, as its header in ops/ says; usually 0;
// smallest   2^-116: a kernel may treat as 0 what is below the normal numbers of f32 (2^-126), and
//            multiply the result by moderate numbers after that;
// step       the gap between 0 and the next number: what round-off is among subnormal numbers,
//            which f16 reaches at 2^-14.
// A backward-stable kernel is as good as the exact one on inputs changed by a few units of
// round-off, and the scale says what such a change does. Source for the model: Higham, "Accuracy
// and Stability of Numerical Algorithms", chapters 1 to 4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"

namespace cloze::backend::testing {

struct ErrorModel {
  DType output = DType::kF32;
  DType through = DType::kF32;
  int64_t summed_terms = 1;  // K
  double absolute = 0.0;
};

// The scale of each element from the largest change that any probe of the inputs made to it.
// Elements count by rows of `columns`.
std::vector<double> scales(std::span<const double> expected, std::span<const double> changes,
                           int64_t columns);

// The magnitude from which on numbers round to infinity.
double overflow_threshold(DType dtype);

std::vector<double> tolerances(const ErrorModel& model, std::span<const double> expected,
                               std::span<const double> scales);

// The relative size of the changes by which the scale is measured.
double probe_size();

// False when the bounds are so wide, next to the expected values (both as root mean squares), that
// a wrong kernel would pass.
bool is_meaningful(std::span<const double> tolerances, std::span<const double> expected);

// True when so many of the expected values are zero that a kernel which does nothing could pass.
bool has_too_many_zeros(std::span<const double> expected);

// How far two computations in double of the same formula may differ, where the largest intermediate
// result has the given magnitude.
double double_tolerance(double magnitude, int64_t operations);

// A derivative by central differences of fourth order in double, from function values at
// x - 4h, x - 2h, x - h, x + h, x + 2h, x + 4h, with a bound on its error: truncation from the
// difference to the same formula with step 2h, round-off from the magnitude of the terms of f.
struct CentralDifference {
  double derivative = 0.0;
  double error_bound = 0.0;
};
double central_difference_step();
CentralDifference central_difference(std::span<const double, 6> values, double magnitude);

}  // namespace cloze::backend::testing
