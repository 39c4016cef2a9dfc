#include "backend/gpu/emulation/product.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "backend/gpu/launcher.h"
#include "backend/gpu/random_product_test.h"
#include "backend/host/host_device.h"
#include "base/bfloat16.h"

namespace cloze::backend::gpu {
namespace {

// T: the dtype of A and B in kernels, and as the host has it.
template <typename T, typename OfHost>
void expect_right(RandomProduct one) {
  const auto a = rounded<OfHost>(one.a), b = rounded<OfHost>(one.b);
  one.product.operands = sizeof(T) == 2 ? DType::kBF16 : DType::kF32;
  host::HostStream stream;
  Launcher launcher("test", stream);
  const auto tensor = [&](const std::vector<OfHost>& numbers) {
    return launcher.tensor("x", reinterpret_cast<const T*>(numbers.data()),
                           static_cast<int64_t>(numbers.size()));
  };
  launcher.multiply<T, float>(
      one.product,
      {{tensor(a), one.product.a},
       {tensor(b), one.product.b},
       {launcher.tensor("c", one.c.data(), static_cast<int64_t>(one.c.size())), one.product.c}},
      {}, emulation::Place::current());
  launcher.finish();
  EXPECT_EQ(one.c, one.expected);
}

TEST(EmulatedProduct, IsWhatTheHeaderSays) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const RandomProduct one = random_product(random);
    expect_right<float, float>(one);
    expect_right<bf16, bfloat16>(one);
  }
}

TEST(EmulatedProduct, RoundsABf16ResultOnce) {
  const bf16 a[] = {{0x3f80}, {0x3b80}}, b[] = {{0x3f80}, {0x3f80}};  // 1 and 2^-8; 1 and 1
  bf16 c[] = {{0}};
  host::HostStream stream;
  Launcher launcher("test", stream);
  launcher.multiply<bf16, bf16>({.sizes = {1, 1, 2},
                                 .a = {2},
                                 .b = {1},
                                 .c = {1},
                                 .operands = DType::kBF16,
                                 .result = DType::kBF16},
                                {{launcher.tensor("a", std::as_const(a), 2), {2}},
                                 {launcher.tensor("b", std::as_const(b), 2), {1}},
                                 {launcher.tensor("c", c, 1), {1}}},
                                {}, emulation::Place::current());
  EXPECT_EQ(c[0].bits, 0x3f80);  // half way to the next number: to even
}

// The finding of a product of [2, 3] by [3, 2].
std::string finding_of(const Matrices<float, float>& of) {
  emulation::Findings findings;
  const auto operand = [](const auto& matrix) {
    return emulation::Operand{matrix.tensor.data(), matrix.tensor.region(), matrix.first};
  };
  emulation::multiply({.sizes = {2, 2, 3}, .a = of.a.layout, .b = of.b.layout, .c = of.c.layout},
                      {operand(of.a), operand(of.b), operand(of.c)}, emulation::Place::current(),
                      findings);
  EXPECT_EQ(findings.all().size(), 1u);
  if (findings.all().empty()) return "";
  const std::string& text = findings.all().front().text;
  return text.substr(text.find(": ") + 2);
}

TEST(EmulatedProduct, FindsWhatGoesWrong) {
  std::vector<float> memory(20);
  host::HostStream stream;
  Launcher launcher("test", stream);
  const Matrix<const float> a{launcher.tensor<const float>("a", memory.data(), 6), {3}};
  const Matrix<const float> b{launcher.tensor<const float>("b", memory.data() + 6, 6), {2}};
  const Matrix<float> c{launcher.tensor("c", memory.data() + 12, 4), {2}};
  const auto changed = [](auto matrix, int64_t stride, int64_t first) {
    matrix.layout.stride = stride;
    matrix.first = first;
    return matrix;
  };
  EXPECT_EQ(finding_of({changed(a, 4, 0), b, c}), "element 6 of a, which has 6");
  EXPECT_EQ(finding_of({a, changed(b, 2, -1), c}), "element -1 of b, which has 6");
  EXPECT_EQ(finding_of({a, b, changed(c, 2, 1)}), "element 4 of c, which has 4");
  EXPECT_EQ(finding_of({a, b, {{}, {2}}}), "a product of a tensor that was not given");
  const Matrix<float> over_b{launcher.tensor("over b", memory.data() + 11, 4), {2}};
  EXPECT_EQ(finding_of({a, b, over_b}), "a product is written over what it reads");
  EXPECT_EQ(memory, std::vector<float>(20));
}

}  // namespace
}  // namespace cloze::backend::gpu
