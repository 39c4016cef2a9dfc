#include "questions.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device.h"
#include "product.h"
#include "row.h"

namespace cloze::cuda_probe {
namespace {

using Halves = std::vector<__nv_bfloat16>;

Halves normal_halves(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Halves values(count);
  for (auto& value : values) value = __float2bfloat16(normal(generator));
  return values;
}

// D [rows, columns] in double, of the numbers that A and B hold.
std::vector<double> exact_product(const ProductShape& shape, const Halves& a, const Halves& b) {
  std::vector<double> d(shape.rows * shape.columns);
  for (int64_t column = 0; column < shape.columns; ++column) {
    for (int64_t row = 0; row < shape.rows; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < shape.depth; ++k) {
        const auto in_a = shape.transposes_a ? k + row * shape.depth : row + k * shape.rows;
        const auto in_b = shape.transposes_b ? column + k * shape.columns : k + column * shape.depth;
        sum += static_cast<double>(__bfloat162float(a[in_a])) * __bfloat162float(b[in_b]);
      }
      d[row + column * shape.rows] = sum;
    }
  }
  return d;
}

struct Difference {
  double largest = 0;
  size_t place = 0;
};

Difference difference(const std::vector<float>& actual, const std::vector<double>& expected) {
  Difference found;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(actual[i] - expected[i]);
    if (std::isnan(error)) return {std::numeric_limits<double>::infinity(), i};
    if (error > found.largest) found = {error, i};
  }
  return found;
}

bool is_f32(cudaDataType_t type) { return type == CUDA_R_32F; }
const char* name_of(cudaDataType_t type) { return is_f32(type) ? "f32" : "bf16"; }

std::vector<float> floats_from_card(const Memory& memory, cudaDataType_t type) {
  if (is_f32(type)) return from_card<float>(memory);
  const auto halves = from_card<__nv_bfloat16>(memory);
  std::vector<float> values(halves.size());
  std::ranges::transform(halves, values.begin(), __bfloat162float);
  return values;
}

Memory numbers_on_card(int64_t count, float value, cudaDataType_t type) {
  return is_f32(type) ? to_card(std::vector<float>(count, value)) : to_card(Halves(count, __float2bfloat16(value)));
}

// A product whose result is u itself: each number as two bf16 parts, which the sum joins without rounding.
struct GeluCase {
  static constexpr int64_t kRows = 128, kDepth = 64, kNumbers = 4096;
  static constexpr double kTail = -2;  // below it the forms differ by more than bf16 rounds

  std::vector<double> u;  // ascending over [-8, 8]
  Memory a, b;
};

GeluCase make_gelu_case() {
  constexpr auto kRows = GeluCase::kRows, kDepth = GeluCase::kDepth, kNumbers = GeluCase::kNumbers;
  std::vector<double> u;
  Halves a(kRows * kDepth, __float2bfloat16(0)), b(kNumbers * kDepth, __float2bfloat16(0));
  for (int64_t row = 0; row < kRows; ++row) a[row * kDepth] = a[row * kDepth + 1] = __float2bfloat16(1);
  for (int64_t i = 0; i < kNumbers; ++i) {
    const auto number = static_cast<float>(-8 + 16.0 * i / (kNumbers - 1));
    const auto high = __float2bfloat16(number);
    const auto low = __float2bfloat16(number - __bfloat162float(high));
    b[i * kDepth] = high;
    b[i * kDepth + 1] = low;
    u.push_back(static_cast<double>(__bfloat162float(high)) + __bfloat162float(low));
  }
  return {std::move(u), to_card(a), to_card(b)};
}

// GELU(u) as the library computes it, one for each number.
std::vector<float> gelu_of_library(const CublasLt& library, const GeluCase& numbers, cublasLtEpilogue_t epilogue,
                                   cudaDataType_t type) {
  constexpr auto kRows = GeluCase::kRows;
  const auto bias = numbers_on_card(kRows, 0, type);
  const int64_t count = kRows * GeluCase::kNumbers;
  const auto d = numbers_on_card(count, NAN, type), kept = numbers_on_card(count, NAN, type);
  ProductOptions options{.d_type = type, .epilogue = epilogue};
  if (epilogue != CUBLASLT_EPILOGUE_GELU) options.bias = bias.data();
  if (epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) options.auxiliary = kept.data();
  Product(library, {kRows, GeluCase::kNumbers, GeluCase::kDepth, true, false}, options)
      .run({numbers.a.data(), numbers.b.data(), d.data()});
  const auto all = floats_from_card(d, type);
  std::vector<float> first_row;
  for (int64_t i = 0; i < GeluCase::kNumbers; ++i) first_row.push_back(all[i * kRows]);
  return first_row;
}

void compare_gelu(const std::vector<double>& u, const std::vector<float>& actual, Row row) {
  std::vector<double> by_erf, by_tanh;
  std::ranges::transform(u, std::back_inserter(by_erf), gelu_by_erf);
  std::ranges::transform(u, std::back_inserter(by_tanh), gelu_by_tanh);
  const auto from_erf = difference(actual, by_erf), from_tanh = difference(actual, by_tanh);
  const auto tail = std::ranges::upper_bound(u, GeluCase::kTail) - u.begin();
  by_erf.resize(tail);
  by_tanh.resize(tail);
  const double tail_from_erf = difference(actual, by_erf).largest, tail_from_tanh = difference(actual, by_tanh).largest;
  row.add("form", tail_from_erf < tail_from_tanh ? "erf" : "tanh")
      .add("error_from_erf", from_erf.largest)
      .add("at", u[from_erf.place])
      .add("error_from_tanh", from_tanh.largest)
      .add("tail_error_from_erf", tail_from_erf)
      .add("tail_error_from_tanh", tail_from_tanh)
      .write();
}

// Runs one question; a refusal of the library is its answer.
template <typename Question>
void answer(const char* part, const std::string& what, const Question& question) {
  try {
    question();
  } catch (const ProbeError& error) {
    Row(part).add("case", what).add("refused", error.what()).write();
  }
}

void ask_bias_gradient_in(const CublasLt& library, cudaDataType_t type) {
  const ProductShape shape{.rows = 64, .columns = 96, .depth = 256, .transposes_b = true};
  const auto a = normal_halves(shape.rows * shape.depth, 1), b = normal_halves(shape.columns * shape.depth, 2);
  const auto on_card_a = to_card(a), on_card_b = to_card(b);
  const auto d = to_card(std::vector<float>(shape.rows * shape.columns, 3.0f));
  constexpr float kBefore = 1024;
  const auto bias = numbers_on_card(shape.columns, kBefore, type);
  const Product product(library, shape, {.d_type = CUDA_R_32F, .beta = 1, .epilogue = CUBLASLT_EPILOGUE_BGRADB,
                                         .bias = bias.data(), .bias_type = type});
  product.run({on_card_a.data(), on_card_b.data(), d.data()});
  auto expected = exact_product(shape, a, b);
  for (auto& value : expected) value += 3;
  std::vector<double> sums(shape.columns), added;
  for (size_t i = 0; i < b.size(); ++i) sums[i % shape.columns] += __bfloat162float(b[i]);
  for (const double sum : sums) added.push_back(sum + kBefore);
  const auto gradient = floats_from_card(bias, type);
  const double overwritten = difference(gradient, sums).largest, accumulated = difference(gradient, added).largest;
  Row("bias_gradient")
      .add("case", std::string("D f32, beta 1, bias ") + name_of(type))
      .add("product_error", difference(from_card<float>(d), expected).largest)
      .add("bias_is", overwritten < accumulated ? "overwritten" : "added to")
      .add("bias_error", std::min(overwritten, accumulated))
      .write();
}

void ask_pointer_arrays_with(const CublasLt& library, bool has_bias) {
  constexpr int kBatch = 3;
  const ProductShape shape{.rows = 64, .columns = 128, .depth = 64, .transposes_a = true};
  const auto x = normal_halves(shape.columns * shape.depth, 4);
  const auto on_card_x = to_card(x);
  std::vector<Halves> weights;
  std::vector<Memory> on_card;
  std::vector<void*> a, b(kBatch, on_card_x.data()), d;
  for (int i = 0; i < kBatch; ++i) {
    weights.push_back(normal_halves(shape.rows * shape.depth, 5 + i));
    on_card.push_back(to_card(weights.back()));
    on_card.emplace_back(shape.rows * shape.columns * sizeof(float));
    a.push_back(on_card[2 * i].data());
    d.push_back(on_card[2 * i + 1].data());
  }
  const auto bias = to_card(std::vector<float>(kBatch * shape.rows, 2.0f));
  ProductOptions options{.d_type = CUDA_R_32F, .batch = kBatch};
  if (has_bias) {
    options.epilogue = CUBLASLT_EPILOGUE_BIAS;
    options.bias = bias.data();
    options.bias_stride = shape.rows;
  }
  const auto a_array = to_card(a), b_array = to_card(b), d_array = to_card(d);
  Product(library, shape, options).run({a_array.data(), b_array.data(), d_array.data()});
  double largest = 0;
  for (int i = 0; i < kBatch; ++i) {
    auto expected = exact_product(shape, weights[i], x);
    for (auto& value : expected) value += has_bias ? 2 : 0;
    largest = std::max(largest, difference(from_card<float>(on_card[2 * i + 1]), expected).largest);
  }
  Row("pointer_arrays").add("case", has_bias ? "BIAS" : "DEFAULT").add("error", largest).write();
}

}  // namespace

double gelu_by_erf(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }

double gelu_by_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * inner));  // 0.5 x (1 + tanh(inner)), without its cancellation
}

void ask_gelu(const CublasLt& library) {
  const auto numbers = make_gelu_case();
  const std::pair<const char*, cublasLtEpilogue_t> epilogues[] = {{"GELU", CUBLASLT_EPILOGUE_GELU},
                                                                  {"GELU_BIAS", CUBLASLT_EPILOGUE_GELU_BIAS},
                                                                  {"GELU_AUX_BIAS", CUBLASLT_EPILOGUE_GELU_AUX_BIAS}};
  for (const auto& [name, epilogue] : epilogues) {
    for (const auto type : {CUDA_R_32F, CUDA_R_16BF}) {
      const auto what = std::string(name) + ", D " + name_of(type);
      answer("gelu", what, [&] {
        compare_gelu(numbers.u, gelu_of_library(library, numbers, epilogue, type), Row("gelu").add("case", what));
      });
    }
  }
}

void ask_f32_bias(const CublasLt& library) {
  // x w = -1 and the bias 1 + 2^-12: rounded to bf16 it would be 1, and the sum 0.
  const ProductShape shape{.rows = 64, .columns = 64, .depth = 64, .transposes_a = true};
  Halves a(shape.rows * shape.depth, __float2bfloat16(0)), b = a;
  for (int64_t i = 0; i < shape.rows; ++i) {
    a[i * shape.depth] = __float2bfloat16(1);
    b[i * shape.depth] = __float2bfloat16(-1);
  }
  const auto on_card_a = to_card(a), on_card_b = to_card(b);
  const auto bias = to_card(std::vector<float>(shape.rows, 1 + 0x1p-12f));
  answer("f32_bias", "BIAS, D bf16", [&] {
    const Memory d(shape.rows * shape.columns * sizeof(__nv_bfloat16));
    const Product product(library, shape, {.epilogue = CUBLASLT_EPILOGUE_BIAS, .bias = bias.data(), .bias_type = CUDA_R_32F});
    product.run({on_card_a.data(), on_card_b.data(), d.data()});
    const float got = __bfloat162float(from_card<__nv_bfloat16>(d)[0]);
    Row("f32_bias").add("case", "BIAS, D bf16").add("result", got).add("is_f32", got == 0x1p-12f).write();
  });
}

void ask_bias_gradient(const CublasLt& library) {
  for (const auto type : {CUDA_R_32F, CUDA_R_16BF}) {
    answer("bias_gradient", std::string("D f32, beta 1, bias ") + name_of(type), [&] { ask_bias_gradient_in(library, type); });
  }
}

void ask_pointer_arrays(const CublasLt& library) {
  for (const bool has_bias : {false, true}) {
    answer("pointer_arrays", has_bias ? "BIAS" : "DEFAULT", [&] { ask_pointer_arrays_with(library, has_bias); });
  }
}

}  // namespace cloze::cuda_probe
