// Products of random sizes and layouts, for tests, with what they are in exact arithmetic.
#pragma once

#include <random>
#include <vector>

#include "backend/gpu/product.h"

namespace cloze::backend::gpu {

// Numbers of few bits, which bf16 holds, and whose sums of products are exact in f32.
struct RandomProduct {
  Product product;
  std::vector<float> a, b, c;   // as they are stored, gaps included
  std::vector<float> expected;  // what C becomes
};

// The place of an element of matrix number `number`.
inline size_t place(const MatrixLayout& layout, int64_t row, int64_t column, int64_t number) {
  const int64_t at =
      layout.is_transposed ? column * layout.stride + row : row * layout.stride + column;
  return static_cast<size_t>(number * layout.batch_stride + at);
}

// Draws sizes, gaps after rows and between matrices, and which are transposed.
inline RandomProduct random_product(std::mt19937& random) {
  const auto draw = [&](int64_t choices) { return static_cast<int64_t>(random()) % choices; };
  Product product{.sizes = {1 + draw(9), 1 + draw(9), 1 + draw(9), 1 + draw(3)},
                  .accumulates = draw(2) == 1};
  product.a.is_transposed = draw(2) == 1;
  product.b.is_transposed = draw(2) == 1;
  const auto& [rows, columns, depth, count] = product.sizes;
  const auto numbers = [&](MatrixLayout& layout, int64_t of_rows, int64_t of_columns) {
    const StoredMatrix matrix = stored(layout, of_rows, of_columns);
    layout.stride = matrix.columns + draw(4);
    layout.batch_stride = matrix.rows * layout.stride + draw(4);
    const int64_t extent = stored(layout, of_rows, of_columns).extent(count);
    std::vector<float> drawn;
    for (int64_t i = 0; i < extent; ++i) drawn.push_back(static_cast<float>(draw(9)) - 4.0f);
    return drawn;
  };
  RandomProduct one{.a = numbers(product.a, rows, depth),
                    .b = numbers(product.b, depth, columns),
                    .c = numbers(product.c, rows, columns)};
  one.product = product;
  one.expected = one.c;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t n = 0; n < columns; ++n) {
        float sum = product.accumulates ? one.c[place(product.c, r, n, i)] : 0.0f;
        for (int64_t k = 0; k < depth; ++k) {
          sum += one.a[place(product.a, r, k, i)] * one.b[place(product.b, k, n, i)];
        }
        one.expected[place(product.c, r, n, i)] = sum;
      }
    }
  }
  return one;
}

template <typename T>
std::vector<T> rounded(const std::vector<float>& numbers) {
  std::vector<T> all;
  for (const float number : numbers) all.push_back(T(number));
  return all;
}

}  // namespace cloze::backend::gpu
