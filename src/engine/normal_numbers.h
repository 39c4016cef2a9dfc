// Normal numbers by Box and Muller, many at a time: in vectors, four times as fast as one by one
// with the C library, whose values they round to.
//
//   normal = sqrt(-2 log(1 - u)) cos(2 pi v)      u, v uniform in [0, 1), whole multiples of 2^-24
#pragma once

#include <array>

namespace cloze::engine {

inline constexpr int kNormalsAtOnce = 256;

struct UniformPairs {
  std::array<float, kNormalsAtOnce> u, v;
};

// By the C library.
double normal_number(float u, float v);

// The largest errors of normal_numbers() against normal_number(): relative; and absolute where the
// cosine is close to 0, from the rounding of 2 pi v in the library's value.
inline constexpr double kNormalRelativeError = 1e-12;
inline constexpr double kNormalAbsoluteError = 1e-14;
using NormalNumbers = std::array<double, kNormalsAtOnce>;
void normal_numbers(const UniformPairs& pairs, NormalNumbers& normals);

}  // namespace cloze::engine
