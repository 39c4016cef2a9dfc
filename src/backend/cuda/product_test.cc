// Products for cuBLASLt without a card: the column-major descriptions by a computation of their own,
// and the calls by a stand-in for the library, which computes on the host.
#include "backend/cuda/product.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "backend/gpu/random_product_test.h"
#include "base/bfloat16.h"
#include "base/error.h"

namespace cloze::backend::cuda {
namespace {

using gpu::RandomProduct;

constexpr int kProducts = 300;

// Element (row, column) of a column-major matrix, or of its transpose.
float element(const std::vector<float>& stored, const ColumnMajorMatrix& matrix, bool is_transposed,
              int64_t row, int64_t column, int64_t number) {
  if (is_transposed) std::swap(row, column);
  return stored[static_cast<size_t>(number * matrix.batch_stride + column * matrix.stride + row)];
}

// What BLAS says of D = op(A) op(B) + beta D.
std::vector<float> computed(const ColumnMajorProduct& product, const RandomProduct& one) {
  std::vector<float> d = one.c;
  const int64_t depth = product.transposes_a ? product.a.rows : product.a.columns;
  EXPECT_EQ(depth, product.transposes_b ? product.b.columns : product.b.rows);
  EXPECT_EQ(product.d.rows, product.transposes_a ? product.a.columns : product.a.rows);
  EXPECT_EQ(product.d.columns, product.transposes_b ? product.b.rows : product.b.columns);
  for (int64_t i = 0; i < product.d.count; ++i) {
    for (int64_t column = 0; column < product.d.columns; ++column) {
      for (int64_t row = 0; row < product.d.rows; ++row) {
        const auto at =
            static_cast<size_t>(i * product.d.batch_stride + column * product.d.stride + row);
        float sum = one.product.accumulates ? d[at] : 0.0f;
        for (int64_t k = 0; k < depth; ++k) {
          sum += element(one.b, product.a, product.transposes_a, row, k, i) *
                 element(one.a, product.b, product.transposes_b, k, column, i);
        }
        d[at] = sum;
      }
    }
  }
  return d;
}

TEST(ColumnMajor, MeansTheSameProduct) {
  std::mt19937 random(1);
  for (int i = 0; i < kProducts; ++i) {
    const RandomProduct one = gpu::random_product(random);
    EXPECT_EQ(computed(column_major(one.product), one), one.expected);
  }
}

CublasLt stand_in() {
  CublasLt library;
  EXPECT_EQ(open_cublas_lt(CLOZE_FAKE_CUBLAS_LT, library), "");
  return library;
}

// Runs it with A and B as T, which begin `shift` elements after a multiple of 16 bytes.
template <typename T>
void expect_right(Products& products, RandomProduct one, size_t shift) {
  one.a.insert(one.a.begin(), shift, -100.0f);
  const auto a = gpu::rounded<T>(one.a), b = gpu::rounded<T>(one.b);
  one.product.operands = sizeof(T) == 2 ? DType::kBF16 : DType::kF32;
  products.run(one.product, {a.data() + shift, b.data(), one.c.data()}, nullptr, nullptr);
  EXPECT_EQ(one.c, one.expected);
}

TEST(Products, AreWhatTheLibraryComputes) {
  const CublasLt library = stand_in();
  Products products(library);
  std::mt19937 random(2);
  for (int i = 0; i < kProducts; ++i) {
    const RandomProduct one = gpu::random_product(random);
    for (const size_t shift : {0, 1}) {
      expect_right<float>(products, one, shift);
      expect_right<bfloat16>(products, one, shift);
    }
  }
}

TEST(Products, RoundABf16Result) {
  const CublasLt library = stand_in();
  Products products(library);
  const auto a = gpu::rounded<bfloat16>({1.0f, 0.5f}), b = gpu::rounded<bfloat16>({3.0f, 4.0f});
  bfloat16 c;
  products.run({.sizes = {1, 1, 2},
                .a = {2},
                .b = {1},
                .c = {1},
                .operands = DType::kBF16,
                .result = DType::kBF16},
               {a.data(), b.data(), &c}, nullptr, nullptr);
  EXPECT_EQ(static_cast<float>(c), 5.0f);
}

TEST(Products, NameTheProductThatTheLibraryRefuses) {
  CublasLt library = stand_in();
  library.get_heuristic = [](auto...) { return CUBLAS_STATUS_NOT_SUPPORTED; };
  Products products(library);
  const float a[6] = {}, b[6] = {};
  float c[4];
  const gpu::Product product{.sizes = {2, 2, 3}, .a = {3}, .b = {3, true}, .c = {2}};
  try {
    products.run(product, {a, b, c}, nullptr, nullptr);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.what(),
              "cuBLASLt (" + library.path +
                  "), the product of f32 [2, 3] by [3, 2], stored as its transpose, to f32: "
                  "CUBLAS_STATUS_NOT_SUPPORTED");
  }
}

}  // namespace
}  // namespace cloze::backend::cuda
