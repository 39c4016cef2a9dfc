// Products by the identity, so that u is what was put in.
#include "backend/cpu/native/activated_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backend/cpu/native/pair_packing.h"
#include "backend/cpu/packed_linear.h"
#include "base/bfloat16.h"

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kColumns = 3;
constexpr int64_t kMostRows = 2 * Matmul::kMostRows + 2;

// One of the tests adds it to u, so that bf16 cannot represent u exactly.
constexpr float kBias[kColumns] = {0.0037f, 0.0011f, -0.0023f};

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

// Over the part of the curve where oneDNN's GELU is off by 2e-7.
std::vector<bfloat16> inputs(int64_t rows) {
  std::vector<bfloat16> x;
  for (int64_t i = 0; i < rows * kColumns; ++i) {
    x.push_back(bfloat16(-3.0f + 0.01f * static_cast<float>(i % 200)));
  }
  return x;
}

template <typename Y>
std::vector<Y> activated(const std::vector<bfloat16>& x, const ActivatedMatmulShape& shape,
                         std::vector<float>& u) {
  std::vector<bfloat16> identity(kColumns * kColumns);
  for (int64_t i = 0; i < kColumns; ++i) identity[i * kColumns + i] = bfloat16(1.0f);
  alignas(64) static bfloat16 packed[kPairColumns * kPairDepth];
  alignas(64) static char scratch[1 << 20];
  pack_pairs(HalfRows{identity.data(), kColumns, kColumns, kColumns},
             {packed, kPairColumns, kPairDepth, kPairColumns});
  std::vector<Y> y(x.size());
  ActivatedMatmul product(shape);
  u.resize(shape.keeps_u ? x.size() : 0);
  EXPECT_LE(product.scratch_bytes(), sizeof scratch);
  product.run({.a = x.data(), .b = packed, .bias = kBias, .c = u.data(), .scratch = scratch},
              y.data());
  return y;
}

ActivatedMatmulShape shape_of(int64_t rows, DType y_dtype, bool keeps_u) {
  return {.product = {.m = rows, .n = kColumns, .depth = kColumns, .num_threads = 2},
          .activation = ops::GeluForm::kErf,
          .y_dtype = y_dtype,
          .keeps_u = keeps_u};
}

TEST(ActivatedMatmul, ActivatesEveryRowOnce) {
  if (const auto refusal = refuse_any_bf16()) GTEST_SKIP() << *refusal;
  for (int64_t rows = 1; rows <= kMostRows; rows += 3) {
    const std::vector<bfloat16> x = inputs(rows);
    std::vector<float> u;
    const auto y = activated<float>(x, shape_of(rows, DType::kF32, true), u);
    EXPECT_EQ(u, std::vector<float>(x.begin(), x.end()));
    for (size_t i = 0; i < x.size(); ++i) {
      const double right = gelu(static_cast<float>(x[i]));
      ASSERT_NEAR(y[i], right, 8 * unit_roundoff(DType::kF32) * std::abs(right));
    }
  }
}

// If u were rounded to bf16 in between, many of the results would differ.
TEST(ActivatedMatmul, RoundsToBfloat16Once) {
  if (const auto refusal = refuse_any_bf16()) GTEST_SKIP() << *refusal;
  const std::vector<bfloat16> x = inputs(kMostRows);
  std::vector<float> u;
  ActivatedMatmulShape shape = shape_of(kMostRows, DType::kBF16, false);
  shape.product.has_bias = true;
  const auto y = activated<bfloat16>(x, shape, u);
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = gelu(static_cast<float>(x[i]) + kBias[i % kColumns]);
    const double bound = unit_roundoff(DType::kBF16) + 8 * unit_roundoff(DType::kF32);
    ASSERT_NEAR(static_cast<float>(y[i]), right, bound * std::abs(right));
  }
}

}  // namespace
}  // namespace cloze::backend::cpu
