// Products by the identity, so that u is what was put in.
#include "backend/cpu/native/activated_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/bfloat16.h"

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kColumns = 3;

double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

// Rows over the part of the curve where oneDNN's GELU is off by 2e-7.
std::vector<float> inputs(int64_t rows) {
  std::vector<float> x(static_cast<size_t>(rows * kColumns));
  for (size_t i = 0; i < x.size(); ++i) x[i] = -3.0f + 0.001f * static_cast<float>(i % 1000);
  return x;
}

template <typename Y>
std::vector<Y> activated(const std::vector<float>& x, const ActivatedMatmulShape& shape,
                         std::vector<float>& u) {
  std::vector<float> identity(kColumns * kColumns);
  for (int64_t i = 0; i < kColumns; ++i) identity[i * kColumns + i] = 1.0f;
  std::vector<Y> y(x.size());
  ActivatedMatmul product(shape);
  u.resize(product.u_bytes() / sizeof(float));
  alignas(64) static char packed[1 << 16];
  alignas(64) static char scratch[1 << 16];
  EXPECT_LE(product.packed_bytes(), sizeof packed);
  EXPECT_LE(product.scratch_bytes(), sizeof scratch);
  product.run({.a = x.data(),
               .packed_b = product.pack(identity.data(), packed),
               .c = u.data(),
               .scratch = scratch},
              y.data());
  return y;
}

ActivatedMatmulShape shape_of(int64_t rows, DType y_dtype, bool keeps_u) {
  return {.product = {rows, kColumns, kColumns},
          .activation = ops::GeluForm::kErf,
          .y_dtype = y_dtype,
          .keeps_u = keeps_u};
}

// One block, one and a row, and a last one that overlaps the one before.
TEST(ActivatedMatmul, ActivatesEveryRowOnce) {
  for (const int64_t rows : {1, 512, 513, 1031}) {
    const std::vector<float> x = inputs(rows);
    std::vector<float> u;
    const auto y = activated<float>(x, shape_of(rows, DType::kF32, true), u);
    EXPECT_EQ(u, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_NEAR(y[i], gelu(x[i]), 8 * unit_roundoff(DType::kF32) * std::abs(gelu(x[i])));
    }
  }
}

// With u in bf16 between, two thirds of the results would be others.
TEST(ActivatedMatmul, RoundsToBfloat16Once) {
  const std::vector<float> x = inputs(1031);
  std::vector<float> u;
  const auto y = activated<bfloat16>(x, shape_of(1031, DType::kBF16, false), u);
  EXPECT_LT(u.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double bound = unit_roundoff(DType::kBF16) + 8 * unit_roundoff(DType::kF32);
    ASSERT_NEAR(static_cast<float>(y[i]), gelu(x[i]), bound * std::abs(gelu(x[i])));
  }
}

}  // namespace
}  // namespace cloze::backend::cpu
