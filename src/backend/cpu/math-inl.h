// Elementary functions on vectors of floats: exp, tanh, the normal distribution, GELU.
//
// Polynomials are minimax (Remez, in 40 digits); the errors named are relative, of the polynomial
// alone. With the rounding of f32 arithmetic, Exp is within 2 units in the last place, Tanh within
// 3 and NormalTail within 5 of the exact value.
// Beyond the range of f32, Exp gives infinity, and 0 already where its result would be subnormal.
#if defined(CLOZE_BACKEND_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_MATH_INL_H_
#undef CLOZE_BACKEND_CPU_MATH_INL_H_
#else
#define CLOZE_BACKEND_CPU_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>
#include <optional>

#include "ops/gelu.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// sum_i coefficients[i] x^i, by Horner's rule.
template <class D, size_t kCount>
HWY_INLINE hn::Vec<D> Polynomial(D d, hn::Vec<D> x, const float (&coefficients)[kCount]) {
  auto sum = hn::Set(d, coefficients[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

// Adding it to a float rounds the float to an integer and leaves that integer in the lowest bits.
inline constexpr float kRoundingShift = 0x1.8p23f;

inline constexpr float kSmallestExp = -87.3365402f;  // the last float whose e^x is normal

// e^x = 2^n p with n = round(x / ln 2).
template <class V>
struct PartsOfExp {
  V n;
  V shifted;  // n as an integer in the lowest bits
  V p;
};

// p = e^r = 1 + r + r^2 q(r) with r = x - n ln 2, so |r| <= ln 2 / 2. q: degree 4, error 3.1e-9.
template <class D>
HWY_INLINE PartsOfExp<hn::Vec<D>> SplitExp(D d, hn::Vec<D> x) {
  static constexpr float kQ[] = {0.4999999344f, 0.166665205f, 0.04166839193f, 0.008368738147f,
                                 0.00138144304f};
  const auto shift = hn::Set(d, kRoundingShift);
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shift);
  const auto n = hn::Sub(shifted, shift);
  // ln 2 in two parts; the product with the first is exact.
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  const auto above_one = hn::MulAdd(hn::Mul(r, r), Polynomial(d, r, kQ), r);
  return {n, shifted, hn::Add(hn::Set(d, 1.0f), above_one)};
}

#if HWY_TARGET <= HWY_AVX3
// AVX-512 multiplies by 2^n itself, beyond the range too. x is limited, because infinity would pass
// through infinity - infinity; it is the second operand of the minimum, which is the result when
// either is NaN.
template <class D>
HWY_INLINE hn::Vec<D> Exp(D d, hn::Vec<D> x) {
  const auto parts = SplitExp(d, hn::Min(hn::Set(d, 89.0f), x));
  const __mmask16 not_small = _mm512_cmp_ps_mask(x.raw, hn::Set(d, kSmallestExp).raw, _CMP_NLT_UQ);
  return hn::Vec<D>{_mm512_maskz_scalef_ps(not_small, parts.p.raw, parts.n.raw)};
}
#else
// 2^n is added to the bits of the exponent.
template <class D>
HWY_INLINE hn::Vec<D> Exp(D d, hn::Vec<D> x) {
  constexpr float kLargest = 88.7228317f;  // the last float whose e^x is finite
  const hn::RebindToSigned<D> d32;
  const auto parts = SplitExp(d, x);
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(d32, parts.shifted));
  const auto scaled = hn::BitCast(d, hn::Add(hn::BitCast(d32, parts.p), exponent));
  const auto not_small = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kSmallestExp)), scaled);
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  // Infinity + x: infinity beyond the largest, NaN of NaN.
  return hn::IfThenElse(hn::Le(x, hn::Set(d, kLargest)), not_small, hn::Add(infinity, x));
}
#endif

// |x| < 0.625: x + x^3 p(x^2), p of degree 4, error 4.4e-9.
// Else: sign(x) (1 - 2 / (e^(2 |x|) + 1)), where nothing cancels.
template <class D>
HWY_INLINE hn::Vec<D> Tanh(D d, hn::Vec<D> x) {
  static constexpr float kP[] = {-0.3333328199f, 0.1333144317f, -0.05373977543f, 0.02063923048f,
                                 -0.005705101533f};
  const auto one = hn::Set(d, 1.0f);
  const auto magnitude = hn::Abs(x);
  const auto square = hn::Mul(x, x);
  const auto near = hn::MulAdd(hn::Mul(x, square), Polynomial(d, square, kP), x);
  const auto exp = Exp(d, hn::Add(magnitude, magnitude));
  const auto far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(exp, one)));
  const auto is_near = hn::Lt(magnitude, hn::Set(d, 0.625f));
  return hn::CopySign(hn::IfThenElse(is_near, near, far), x);
}

// The normal distribution at x: the density without its constant, and the smaller tail.
template <class V>
struct Normal {
  V magnitude;    // |x|, at most 15, where the tail is 0
  V exponential;  // e^(-x^2 / 2)
  V tail;         // P(X > |x|) = erfc(|x| / sqrt 2) / 2
};

// tail = e^(-x^2/2) t G(1 - 2t), t = k / (|x| + k), k = 3.5. G is smooth, so a polynomial of
// degree 9 serves all |x| <= 14 with error 6.4e-9; the tail underflows before that.
template <class D>
HWY_INLINE Normal<hn::Vec<D>> NormalTail(D d, hn::Vec<D> x) {
  static constexpr float kG[] = {
      0.212690307f,   -0.1615890718f,    0.09012143137f,    -0.03315797028f, 0.004973402378f,
      0.00185497544f, -0.0009079400102f, -0.0001413311039f, 0.000121614014f, 3.220931419e-5f};
  const auto half = hn::Set(d, 0.5f);
  const auto k = hn::Set(d, 3.5f);
  const auto one = hn::Set(d, 1.0f);
  // Clamped, so that infinity gives 0 without passing through infinity - infinity.
  const auto magnitude = hn::Min(hn::Abs(x), hn::Set(d, 15.0f));
  const auto square = hn::Mul(magnitude, magnitude);
  const auto lost = hn::MulSub(magnitude, magnitude, square);  // what rounding took from the square
  const auto exp = Exp(d, hn::Neg(hn::Mul(half, square)));
  const auto exponential = hn::NegMulAdd(hn::Mul(half, lost), exp, exp);
  const auto t = hn::Div(k, hn::Add(magnitude, k));
  const auto s = hn::NegMulAdd(hn::Set(d, 2.0f), t, one);
  return {magnitude, exponential, hn::Mul(hn::Mul(exponential, t), Polynomial(d, s, kG))};
}

// P(X <= x) from the tail.
template <class D>
HWY_INLINE hn::Vec<D> NormalDistribution(D d, hn::Vec<D> x, hn::Vec<D> tail) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

// ops/gelu.h, form kErf: x P(X <= x), which is max(0, x) - |x| tail. A NaN passes through the
// maximum's second operand.
#if HWY_TARGET <= HWY_AVX3
// AVX-512 chooses among sixteen numbers in one instruction, so the tail is made of pieces, which
// takes less than half the time. Piece i: a polynomial of degree 6 in t = 2 |x| - i, |t| <= 1/2;
// relative errors rise from 7e-11 through 9e-9 (i = 4) and 8e-7 (i = 8) to 1e-4 (i = 14), and those
// of GELU are at most 1.11e-9 (i = 5; ops/gelu.h, kGeluErfError). Beyond 7.25 the tail is 0.
inline constexpr int kTailDegree = 6;
alignas(64) inline constexpr float kTailPieces[kTailDegree + 1][16] = {
    {0.5f, 0.308537539f, 0.158655254f, 0.0668072015f, 0.0227501319f, 0.00620966517f, 0.00134989798f,
     0.000232629097f, 3.16712623e-05f, 3.39768115e-06f, 2.86653434e-07f, 1.89898496e-08f,
     9.86618569e-10f, 4.01623935e-11f, 1.27994687e-12f},
    {-0.199471142f, -0.176032659f, -0.120985372f, -0.0647588048f, -0.026995482f, -0.00876414732f,
     -0.00221592328f, -0.00043634153f, -6.6915333e-05f, -7.99194692e-06f, -7.43374993e-07f,
     -5.38507796e-08f, -3.03811622e-09f, -1.33488442e-10f, -4.56779625e-12f},
    {5.58086161e-08f, 0.022004081f, 0.030246318f, 0.0242845352f, 0.0134977489f, 0.00547760545f,
     0.00166194665f, 0.000381797181f, 6.69135097e-05f, 8.9902218e-06f, 9.29050215e-07f,
     7.40184557e-08f, 4.55428663e-09f, 2.16691423e-10f, 7.98057427e-12f},
    {0.00831063599f, 0.00550088233f, 3.16120276e-07f, -0.00337262419f, -0.00337447961f,
     -0.00191726041f, -0.00073867436f, -0.00020452769f, -4.18130481e-05f, -6.40688064e-06f,
     -7.4265705e-07f, -6.55275854e-08f, -4.42023774e-09f, -2.28687117e-10f, -9.09638111e-12f},
    {3.75020287e-06f, -0.00126058035f, -0.00126000557f, -0.000379320559f, 0.000281107785f,
     0.00037075689f, 0.000207710722f, 7.35938672e-05f, 1.81402512e-05f, 3.23782675e-06f,
     4.27470095e-07f, 4.2286277e-08f, 3.16109029e-09f, 1.79646317e-10f, 7.79566636e-12f},
    {-0.000322636478f, -0.000142145169f, 0.000123450752f, 0.000181522837f, 7.06789859e-05f,
     -1.99617981e-05f, -3.43445085e-05f, -1.81479185e-05f, -5.76142261e-06f, -1.24390967e-06f,
     -1.91787701e-07f, -2.16558199e-08f, -1.8179469e-09f, -1.14578894e-10f, -5.45891949e-12f},
    {1.59897233e-05f, 4.74076012e-05f, 3.06787042e-05f, -1.04151171e-05f, -2.07031918e-05f,
     -7.72528699e-06f, 1.76918847e-06f, 2.76047588e-06f, 1.24610831e-06f, 3.32216659e-07f,
     5.95368059e-08f, 7.55003104e-09f, 6.95883732e-10f, 4.73763846e-11f, 2.40800664e-12f}};

template <class D>
HWY_INLINE hn::Vec<D> GeluErf(D d, hn::Vec<D> x) {
  const auto two = hn::Set(d, 2.0f);
  const auto shift = hn::Set(d, kRoundingShift);
  const auto magnitude = hn::Min(hn::Abs(x), hn::Set(d, 7.5f));
  const auto shifted = hn::MulAdd(two, magnitude, shift);
  const auto t = hn::MulSub(two, magnitude, hn::Sub(shifted, shift));
  const auto coefficient = [&](int k) HWY_ATTR {
    return hn::Vec<D>{
        _mm512_permutexvar_ps(_mm512_castps_si512(shifted.raw), _mm512_load_ps(kTailPieces[k]))};
  };
  auto tail = coefficient(kTailDegree);
  for (int k = kTailDegree; k-- > 0;) tail = hn::MulAdd(tail, t, coefficient(k));
  return hn::NegMulAdd(magnitude, tail, hn::Max(hn::Zero(d), x));
}
#else
template <class D>
HWY_INLINE hn::Vec<D> GeluErf(D d, hn::Vec<D> x) {
  const auto normal = NormalTail(d, x);
  return hn::NegMulAdd(normal.magnitude, normal.tail, hn::Max(hn::Zero(d), x));
}
#endif

// P(X <= x) + x e^(-x^2/2) / sqrt(2 pi).
template <class D>
HWY_INLINE hn::Vec<D> GeluErfDerivative(D d, hn::Vec<D> x) {
  const auto normal = NormalTail(d, x);
  const auto density = hn::Mul(normal.exponential, hn::Set(d, 0.398942280f));
  return hn::MulAdd(x, density, NormalDistribution(d, x, normal.tail));
}

// 2 sqrt(2/pi) (x + 0.044715 x^3), the argument of the logistic function in the tanh form.
template <class D>
HWY_INLINE hn::Vec<D> GeluTanhArgument(D d, hn::Vec<D> x) {
  const auto inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
  return hn::Mul(x, inner);
}

// x let through by a gate: x times the logistic function of the gate.
template <class D>
HWY_INLINE hn::Vec<D> Gate(D d, hn::Vec<D> x, hn::Vec<D> gate) {
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), Exp(d, hn::Neg(gate))));
}

// The logistic function l and its derivative l (1 - l).
template <class V>
struct Logistic {
  V value, slope;
};

inline constexpr float kSmallestLogistic = -87.0f;  // near the last whose e^-x is finite

// 1 - l is e^-x l, which does not cancel. Where e^-x leaves the range of f32, both are 0. A NaN
// passes through the second operand of the maximum.
template <class D>
HWY_INLINE Logistic<hn::Vec<D>> LogisticOf(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  const auto smallest = hn::Set(d, kSmallestLogistic);
  const auto exp = Exp(d, hn::Neg(hn::Max(smallest, x)));
  const auto value = hn::IfThenZeroElse(hn::Lt(x, smallest), hn::Div(one, hn::Add(one, exp)));
  return {value, hn::Mul(value, hn::Mul(value, exp))};
}

// ops/gelu.h, form kTanh: (1 + tanh u) / 2 is the logistic function of 2u.
template <class D>
HWY_INLINE hn::Vec<D> GeluTanh(D d, hn::Vec<D> x) {
  return Gate(d, x, GeluTanhArgument(d, x));
}

// With l = logistic(2u): l + x l (1 - l) (2u)'. 0 where l is 0, because the other factors may be
// infinite.
template <class D>
HWY_INLINE hn::Vec<D> GeluTanhDerivative(D d, hn::Vec<D> x) {
  const auto argument = GeluTanhArgument(d, x);
  const auto logistic = LogisticOf(d, argument);
  const auto slope = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.214064449f), hn::Set(d, 1.59576912f));
  return hn::IfThenZeroElse(hn::Lt(argument, hn::Set(d, kSmallestLogistic)),
                            hn::MulAdd(hn::Mul(x, logistic.slope), slope, logistic.value));
}

// Calls visit(f), where f applies the activation to a vector, or returns the vector if there is
// none.
template <class D, class Visit>
HWY_INLINE void WithActivation(D d, const std::optional<ops::GeluForm>& activation,
                               const Visit& visit) {
  using V = hn::Vec<D>;
  if (!activation) {
    visit([](V v) HWY_ATTR { return v; });
  } else if (*activation == ops::GeluForm::kErf) {
    visit([d](V v) HWY_ATTR { return GeluErf(d, v); });
  } else {
    visit([d](V v) HWY_ATTR { return GeluTanh(d, v); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif  // CLOZE_BACKEND_CPU_MATH_INL_H_
