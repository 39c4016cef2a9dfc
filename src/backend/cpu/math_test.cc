// Elementary functions against double, in units in the last place, over every exponent.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/bfloat16.h"
#include "base/dtype.h"
#include "ops/gelu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/math_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"
#include "backend/cpu/vector_target_test.h"  // after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

void ExpOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return Exp(FloatTag(), v); });
}
void TanhOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return Tanh(FloatTag(), v); });
}
void TailOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y,
            [](FloatVector v) HWY_ATTR { return NormalTail(FloatTag(), v).tail; });
}
void GeluErfOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return GeluErf(FloatTag(), v); });
}
// The smallest result whose error counts relative to itself.
double SmallestGeluErf() { return HWY_TARGET <= HWY_AVX3 ? 0x1p-8 : 0x1p-126; }
void GeluErfDerivativeOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y,
            [](FloatVector v) HWY_ATTR { return GeluErfDerivative(FloatTag(), v); });
}
void GeluTanhOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return GeluTanh(FloatTag(), v); });
}
void LogisticValueOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y,
            [](FloatVector v) HWY_ATTR { return LogisticOf(FloatTag(), v).value; });
}
void LogisticSlopeOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y,
            [](FloatVector v) HWY_ATTR { return LogisticOf(FloatTag(), v).slope; });
}
void GeluTanhDerivativeOf(const float* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y,
            [](FloatVector v) HWY_ATTR { return GeluTanhDerivative(FloatTag(), v); });
}
void ToBFloat16(const float* x, int64_t n, bfloat16* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return v; });
}
void ToFloat16(const float* x, int64_t n, float16* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return v; });
}
void FromFloat16(const float16* x, int64_t n, float* y) {
  MapFloats(FloatTag(), n, x, y, [](FloatVector v) HWY_ATTR { return v; });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(ExpOf);
HWY_EXPORT(TanhOf);
HWY_EXPORT(TailOf);
HWY_EXPORT(GeluErfOf);
HWY_EXPORT(SmallestGeluErf);
HWY_EXPORT(GeluErfDerivativeOf);
HWY_EXPORT(GeluTanhOf);
HWY_EXPORT(LogisticValueOf);
HWY_EXPORT(LogisticSlopeOf);
HWY_EXPORT(GeluTanhDerivativeOf);
HWY_EXPORT(ToBFloat16);
HWY_EXPORT(ToFloat16);
HWY_EXPORT(FromFloat16);

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Floats of both signs with magnitudes from 2^-40 to `largest`, in steps of about one per mille.
std::vector<float> numbers_up_to(double largest) {
  std::vector<float> numbers{0.0f, -0.0f};
  for (double x = 0x1p-40; x <= largest; x *= 1.00097) {
    numbers.push_back(static_cast<float>(x));
    numbers.push_back(static_cast<float>(-x));
  }
  return numbers;
}

// The distance of y from the exact value in units in the last place of the latter; magnitudes
// below `smallest` count as that.
double units(float y, double exact, double smallest) {
  const double magnitude = std::max(std::abs(exact), smallest);
  return std::abs(y - exact) / (std::exp2(std::floor(std::log2(magnitude))) * 0x1p-23);
}

struct Range {
  double largest;   // of |x|
  double smallest;  // |exact| whose error counts relative to itself
};

template <class Function, class Exact>
double worst_units(const Range& range, const Function& function, const Exact& exact) {
  const std::vector<float> x = numbers_up_to(range.largest);
  std::vector<float> y(x.size());
  function(x.data(), static_cast<int64_t>(x.size()), y.data());
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(std::isfinite(y[i])) << x[i];
    worst = std::max(worst, units(y[i], exact(double{x[i]}), range.smallest));
  }
  return worst;
}

constexpr double kSmallestNormal = 0x1p-126;

double tail(double x) { return 0.5 * std::erfc(std::abs(x) * M_SQRT1_2); }
double density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * M_PI); }
double distribution(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
double tanh_argument(double x) { return std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x); }
double gelu_tanh(double x) { return x / (1.0 + std::exp(-2.0 * tanh_argument(x))); }
double gelu_tanh_derivative(double x) {
  const double logistic = 1.0 / (1.0 + std::exp(-2.0 * tanh_argument(x)));
  const double rest = 1.0 / (1.0 + std::exp(2.0 * tanh_argument(x)));
  const double slope = 2.0 * std::sqrt(2.0 / M_PI) * (1.0 + 3.0 * 0.044715 * x * x);
  return logistic + x * logistic * rest * slope;
}

TEST(Math, ExpIsWithinTwoUnits) {
  for_each_target([] {
    EXPECT_LT(worst_units({87.0, kSmallestNormal}, HWY_DYNAMIC_DISPATCH(ExpOf),
                          [](double x) { return std::exp(x); }),
              2.0);
  });
}

TEST(Math, ExpBeyondTheRangeOfFloats) {
  for_each_target([] {
    const float x[] = {88.72283f, 88.72284f, kInfinity, -87.33654f, -87.4f, -kInfinity, kNan};
    float y[7];
    HWY_DYNAMIC_DISPATCH(ExpOf)(x, 7, y);
    EXPECT_TRUE(std::isfinite(y[0])) << y[0];
    EXPECT_EQ(y[1], kInfinity);
    EXPECT_EQ(y[2], kInfinity);
    EXPECT_GE(y[3], std::numeric_limits<float>::min());
    EXPECT_EQ(y[4], 0.0f);
    EXPECT_EQ(y[5], 0.0f);
    EXPECT_TRUE(std::isnan(y[6]));
  });
}

TEST(Math, TanhIsWithinThreeUnits) {
  for_each_target([] {
    EXPECT_LT(worst_units({100.0, kSmallestNormal}, HWY_DYNAMIC_DISPATCH(TanhOf),
                          [](double x) { return std::tanh(x); }),
              3.0);
    const float x[] = {kInfinity, -kInfinity, kNan, -0.0f};
    float y[4];
    HWY_DYNAMIC_DISPATCH(TanhOf)(x, 4, y);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], -1.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_TRUE(y[3] == 0.0f && std::signbit(y[3]));
  });
}

TEST(Math, NormalTailIsWithinFiveUnits) {
  for_each_target([] {
    EXPECT_LT(worst_units({13.0, kSmallestNormal}, HWY_DYNAMIC_DISPATCH(TailOf), tail), 5.0);
  });
}

// x P(X <= x) keeps the relative error of the tail and adds the rounding of two operations. Where
// the tail is approximated piecewise, that holds above 2^-8; below, errors count against 2^-8, and
// relative to the result itself they are up to 2^11 units, as far as the pieces reach. The argument
// of the tanh form is rounded, and the derivatives cross zero: there the error counts against 1/2,
// the size of the terms.
TEST(Math, GeluIsAccurateToRounding) {
  for_each_target([] {
    const auto gelu_erf = [](double x) { return x * distribution(x); };
    EXPECT_LT(worst_units({13.0, HWY_DYNAMIC_DISPATCH(SmallestGeluErf)()},
                          HWY_DYNAMIC_DISPATCH(GeluErfOf), gelu_erf),
              6.0);
    EXPECT_LT(worst_units({7.24, kSmallestNormal}, HWY_DYNAMIC_DISPATCH(GeluErfOf), gelu_erf),
              0x1p11);
    EXPECT_LT(worst_units({100.0, 0.5}, HWY_DYNAMIC_DISPATCH(GeluErfDerivativeOf),
                          [](double x) { return distribution(x) + x * density(x); }),
              3.0);
    EXPECT_LT(worst_units({100.0, 0.5}, HWY_DYNAMIC_DISPATCH(GeluTanhOf), gelu_tanh), 3.0);
    EXPECT_LT(
        worst_units({100.0, 0.5}, HWY_DYNAMIC_DISPATCH(GeluTanhDerivativeOf), gelu_tanh_derivative),
        3.0);
  });
}

// The bound of ops/gelu.h for numbers of both signs, plus the roundings of the test above.
TEST(Math, GeluErfIsWithinItsBound) {
  for_each_target([] {
    constexpr int64_t kCount = 1 << 17;
    std::vector<float> x(kCount), y(kCount);
    for (int64_t i = 0; i < kCount; ++i) x[i] = static_cast<float>(i - kCount / 2) * 0x1p-12f;
    HWY_DYNAMIC_DISPATCH(GeluErfOf)(x.data(), kCount, y.data());
    double worst = 0.0;
    for (int64_t i = 0; i < kCount; ++i) {
      EXPECT_TRUE(std::isfinite(y[i])) << x[i];
      const double exact = x[i] * distribution(x[i]);
      worst = std::max(worst,
                       std::abs(y[i] - exact) - 6.0 * unit_roundoff(DType::kF32) * std::abs(exact));
    }
    EXPECT_LT(worst, ops::kGeluErfError);
  });
}

TEST(Math, LogisticIsAccurateToRounding) {
  for_each_target([] {
    const auto logistic = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
    const auto slope = [&](double x) { return logistic(x) * logistic(-x); };
    const auto value_of = HWY_DYNAMIC_DISPATCH(LogisticValueOf);
    const auto slope_of = HWY_DYNAMIC_DISPATCH(LogisticSlopeOf);
    EXPECT_LT(worst_units({86.0, kSmallestNormal}, value_of, logistic), 5.0);
    EXPECT_LT(worst_units({86.0, kSmallestNormal}, slope_of, slope), 10.0);
    const float x[] = {1e30f, -1e30f, kInfinity, -kInfinity, kNan};
    float value[5], at_slope[5];
    value_of(x, 5, value);
    slope_of(x, 5, at_slope);
    for (const int i : {0, 1, 2, 3}) {
      EXPECT_EQ(value[i], i % 2 == 0 ? 1.0f : 0.0f);
      EXPECT_EQ(at_slope[i], 0.0f);
    }
    EXPECT_TRUE(std::isnan(value[4]));
    EXPECT_TRUE(std::isnan(at_slope[4]));
  });
}

TEST(Math, GeluOfLargeNumbers) {
  for_each_target([] {
    const float x[] = {1e30f, -1e30f, 20.0f, -20.0f, kNan};
    float y[5];
    for (const auto function :
         {HWY_DYNAMIC_DISPATCH(GeluErfOf), HWY_DYNAMIC_DISPATCH(GeluTanhOf)}) {
      function(x, 5, y);
      EXPECT_EQ(y[0], 1e30f);
      EXPECT_EQ(y[1], 0.0f);
      EXPECT_EQ(y[2], 20.0f);
      EXPECT_EQ(y[3], 0.0f);
      EXPECT_TRUE(std::isnan(y[4]));
    }
  });
}

// Every upper half with lower halves around the ties.
TEST(Math, BFloat16RoundsAsItsDefinition) {
  std::vector<float> x;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      x.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  for_each_target([&] {
    std::vector<bfloat16> y(x.size());
    HWY_DYNAMIC_DISPATCH(ToBFloat16)(x.data(), static_cast<int64_t>(x.size()), y.data());
    int64_t differences = 0;
    for (size_t i = 0; i < x.size(); ++i) differences += y[i].bits != bfloat16(x[i]).bits;
    EXPECT_EQ(differences, 0);
  });
}

// Every float16, its neighbours and those of the ties, including subnormal and too large numbers.
TEST(Math, Float16RoundsAsItsDefinition) {
  std::vector<float16> halves(0x10000);
  std::vector<float> x;
  for (uint32_t bits = 0; bits < halves.size(); ++bits) {
    halves[bits].bits = static_cast<uint16_t>(bits);
    const float value = static_cast<float>(halves[bits]);
    const float tie = value * (1.0f + 0x1p-11f);
    for (const float one : {value, tie, value + 0x1p-25f}) {
      x.insert(x.end(), {one, std::nextafter(one, 0.0f), std::nextafter(one, 2.0f * one)});
    }
  }
  const auto is_same = [](float16 a, float16 b) {
    const auto is_nan = [](float16 half) { return std::isnan(static_cast<float>(half)); };
    return a.bits == b.bits || (is_nan(a) && is_nan(b));
  };
  for_each_target([&] {
    std::vector<float16> y(x.size());
    HWY_DYNAMIC_DISPATCH(ToFloat16)(x.data(), static_cast<int64_t>(x.size()), y.data());
    int64_t differences = 0;
    for (size_t i = 0; i < x.size(); ++i) differences += !is_same(y[i], float16(x[i]));
    std::vector<float> back(halves.size());
    HWY_DYNAMIC_DISPATCH(FromFloat16)
    (halves.data(), static_cast<int64_t>(halves.size()), back.data());
    for (size_t i = 0; i < back.size(); ++i) differences += !is_same(float16(back[i]), halves[i]);
    EXPECT_EQ(differences, 0);
  });
}

}  // namespace
}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
