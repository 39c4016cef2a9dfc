// Elementary functions in f32, as the CPU's vector kernels compute them (backend/cpu/math-inl.h):
// the same polynomials, with the same errors, of fused products only, so that a card and the
// emulation agree. `expf` and `erff` of CUDA's library have other errors.
#pragma once

#include "backend/gpu/gpu.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// sum_i coefficients[i] x^i, by Horner's rule.
template <int n>
CLOZE_DEVICE float polynomial(float x, const float (&coefficients)[n]) {
  float sum = coefficients[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = fused(sum, x, coefficients[i]);
  return sum;
}

// e^x = 2^n p with n = round(x / ln 2). Infinity beyond the range of f32; 0 already where the result
// would be subnormal; NaN of NaN.
CLOZE_DEVICE float exponential(float x) {
  constexpr float kShift = 0x1.8p23f;  // rounds what it is added to, and leaves it in the low bits
  constexpr float kSmallest = -87.3365402f;
  constexpr float kLargest = 88.7228317f;
  const float q[] = {0.4999999344f, 0.166665205f, 0.04166839193f, 0.008368738147f, 0.00138144304f};
  const float shifted = fused(x, 1.44269504f, kShift);
  const float n = shifted - kShift;
  // ln 2 in two parts; the product with the first is exact.
  const float r = fused(-n, -2.12194440e-4f, fused(-n, 0.693359375f, x));
  const float p = 1.0f + fused(r * r, polynomial(r, q), r);
  const float scaled = as_float(as_bits(p) + (as_bits(shifted) << 23));
  if (x < kSmallest) return 0.0f;
  return x <= kLargest ? scaled : as_float(0x7f800000u) + x;
}

CLOZE_DEVICE float hyperbolic_tangent(float x) {
  const float p[] = {-0.3333328199f, 0.1333144317f, -0.05373977543f, 0.02063923048f,
                     -0.005705101533f};
  const float square = x * x;
  const float near = fused(x * square, polynomial(square, p), x);
  const float far = 1.0f - 2.0f / (exponential(2.0f * magnitude(x)) + 1.0f);
  return with_sign_of(magnitude(x) < 0.625f ? near : far, x);
}

// The normal distribution at x.
struct Normal {
  float magnitude;    // |x|, at most 15, where the tail is 0
  float exponential;  // e^(-x^2 / 2): the density without its constant
  float tail;         // P(X > |x|)
};

// tail = e^(-x^2/2) t G(1 - 2t), t = k / (|x| + k), k = 3.5.
CLOZE_DEVICE Normal normal_of(float x) {
  constexpr float kK = 3.5f;
  const float g[] = {0.212690307f,    -0.1615890718f, 0.09012143137f,    -0.03315797028f,
                     0.004973402378f, 0.00185497544f, -0.0009079400102f, -0.0001413311039f,
                     0.000121614014f, 3.220931419e-5f};
  const float size = smaller(magnitude(x), 15.0f);
  const float square = size * size;
  const float lost = fused(size, size, -square);  // what rounding took from the square
  const float rounded = exponential(-0.5f * square);
  const float density = fused(-0.5f * lost, rounded, rounded);
  const float t = kK / (size + kK);
  return {size, density, density * t * polynomial(fused(-2.0f, t, 1.0f), g)};
}

// x P(X <= x), which is max(0, x) - |x| tail; NaN of NaN.
CLOZE_DEVICE float gelu_erf(float x) {
  const Normal normal = normal_of(x);
  return x != x ? x : fused(-normal.magnitude, normal.tail, larger(0.0f, x));
}

// P(X <= x) + x e^(-x^2/2) / sqrt(2 pi).
CLOZE_DEVICE float gelu_erf_derivative(float x) {
  const Normal normal = normal_of(x);
  const float below = x < 0.0f ? normal.tail : 1.0f - normal.tail;
  return fused(x, normal.exponential * 0.398942280f, below);
}

// x let through by a gate: x times the logistic function of the gate.
CLOZE_DEVICE float gated(float x, float gate) { return x / (1.0f + exponential(-gate)); }

// The logistic function l and its derivative l (1 - l); both 0 where e^-x leaves the range of f32.
struct Logistic {
  float value, slope;
};
inline constexpr float kSmallestLogistic = -87.0f;

CLOZE_DEVICE Logistic logistic_of(float x) {
  if (x < kSmallestLogistic) return {0.0f, 0.0f};
  const float inverse = exponential(-x);
  const float value = 1.0f / (1.0f + inverse);
  return {value, value * (value * inverse)};  // 1 - l is e^-x l, which does not cancel
}

// 2 sqrt(2/pi) (x + 0.044715 x^3): (1 + tanh u) / 2 is the logistic function of 2u.
CLOZE_DEVICE float gelu_tanh_argument(float x) {
  return x * fused(x * x, 0.0713548163f, 1.59576912f);
}
CLOZE_DEVICE float gelu_tanh(float x) { return gated(x, gelu_tanh_argument(x)); }

// With l = logistic(2u): l + x l (1 - l) (2u)'.
CLOZE_DEVICE float gelu_tanh_derivative(float x) {
  const float argument = gelu_tanh_argument(x);
  if (argument < kSmallestLogistic) return 0.0f;
  const Logistic logistic = logistic_of(argument);
  return fused(x * logistic.slope, fused(x * x, 0.214064449f, 1.59576912f), logistic.value);
}

// The forms of GELU as functions that a kernel is made with.
struct GeluByErf {
  CLOZE_DEVICE static float of(float x) { return gelu_erf(x); }
};
struct GeluByTanh {
  CLOZE_DEVICE static float of(float x) { return gelu_tanh(x); }
};

// With l = logistic(x): l + x l (1 - l), the derivative of x l.
CLOZE_DEVICE float swish_derivative(float x) {
  const Logistic logistic = logistic_of(x);
  return fused(x, logistic.slope, logistic.value);
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
