#include "engine/normal_numbers.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace cloze::engine {
namespace {

// The functions are free of branches and calls, so that the compiler can vectorise them.

// x = m 2^e, m from sqrt(1/2) to sqrt(2):  log x = e log 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...) with
// s = (m - 1) / (m + 1), |s| < 0.172; what is left out is below 1e-15 of it.
inline double logarithm(float x) {
  constexpr int32_t kRootOfHalf = std::bit_cast<int32_t>(0.70710678f);
  constexpr int kMantissaBits = 23;
  const int32_t bits = std::bit_cast<int32_t>(x);
  const int32_t exponent = (bits - kRootOfHalf) >> kMantissaBits;
  const double m = std::bit_cast<float>(bits - (exponent << kMantissaBits));
  const double s = (m - 1.0) / (m + 1.0);
  const double square = s * s;
  double sum = 1.0 / 17.0;
#pragma GCC unroll 8
  for (int k = 15; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2.0 * s * sum + exponent * std::numbers::ln2;
}

// cos(2 pi v) = sin(2 pi (|v - 1/2| - 1/4)), by the series of the sine up to a right angle.
inline double cosine_of_turns(float v) {
  const double x = 2.0 * std::numbers::pi * (std::fabs(static_cast<double>(v) - 0.5) - 0.25);
  const double square = x * x;
  double sum = 1.0;
#pragma GCC unroll 10
  for (int k = 20; k >= 2; k -= 2) sum = 1.0 - square * (1.0 / (k * (k + 1))) * sum;
  return x * sum;
}

}  // namespace

double normal_number(float u, float v) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - u));
  return radius * std::cos(2.0 * std::numbers::pi * v);
}

void normal_numbers(const UniformPairs& pairs, NormalNumbers& normals) {
  for (int i = 0; i < kNormalsAtOnce; ++i) {
    const double radius = std::sqrt(-2.0 * logarithm(1.0f - pairs.u[i]));
    normals[i] = radius * cosine_of_turns(pairs.v[i]);
  }
}

}  // namespace cloze::engine
