// What the probe decides without a card.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "ceilings.h"
#include "conformance.h"
#include "cublas_lt.h"
#include "device.h"
#include "questions.h"
#include "row.h"

namespace cloze::cuda_probe {
namespace {

TEST(DriverComplaint, SaysWhatIsMissing) {
  EXPECT_EQ(driver_complaint({0, 13000}, cudaErrorInsufficientDriver, 0),
            "no NVIDIA driver is loaded here; run this on a machine with a card");
  EXPECT_EQ(driver_complaint({12080, 13000}, cudaErrorInsufficientDriver, 0),
            "the driver knows CUDA 12.8, this program needs 13.0; take a newer driver, or build with that CUDA's nvcc");
  EXPECT_EQ(driver_complaint({13000, 13000}, cudaErrorNoDevice, 0),
            "no CUDA device: the driver is there and shows no card (see nvidia-smi and CUDA_VISIBLE_DEVICES)");
  EXPECT_EQ(driver_complaint({13020, 13000}, cudaErrorDevicesUnavailable, 0).substr(0, 28), "the card cannot be used: CUD");
  EXPECT_EQ(driver_complaint({13020, 13000}, cudaSuccess, 1), "");
}

TEST(Row, IsOneJsonObject) {
  Row row("it");
  row.add("text", "a \"b\" \\ c\n").add("number", 1.5).add("none", NAN).add("count", int64_t{1} << 40).add("is", true);
  EXPECT_EQ(row.text(), R"({"what": "it", "text": "a \"b\" \\ c ", "number": 1.5, "none": null, "count": 1099511627776, "is": true})");
}

// GELU is the integral of its derivative, Phi(x) + x phi(x).
TEST(Gelu, ByErfIsTheIntegralOfItsDerivative) {
  constexpr int kSteps = 20000;
  const auto slope = [](double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
  };
  for (const double end : {-8.0, -3.0, -0.5, 0.5, 4.0}) {
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) sum += slope(end * (i + 0.5) / kSteps) * end / kSteps;
    EXPECT_NEAR(gelu_by_erf(end), sum, 1e-8);
  }
}

// tanh's form is within 5e-4 of it, and differs from it by a tenth at -3: the probe can tell them apart.
TEST(Gelu, FormsDifferWhereTheProbeLooks) {
  for (int i = -80; i <= 80; ++i) {
    const double x = i / 10.0, inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    EXPECT_NEAR(gelu_by_tanh(x), 0.5 * x * (1 + std::tanh(inner)), 1e-14);
    EXPECT_NEAR(gelu_by_tanh(x), gelu_by_erf(x), 5e-4);
  }
  EXPECT_GT(std::abs(gelu_by_tanh(-3) / gelu_by_erf(-3) - 1), 0.09);
}

bool are_same(Compared compared, uint64_t units, uint64_t one, uint64_t other) {
  return is_same({"", compared, units, nullptr}, one, other);
}

TEST(Conformance, ComparesBitsOrNumbers) {
  const auto word = [](float x) { return uint64_t{std::bit_cast<uint32_t>(x)}; };
  EXPECT_TRUE(are_same(Compared::kBits, 0, 7, 7));
  EXPECT_FALSE(are_same(Compared::kBits, 0, word(0.0f), word(-0.0f)));
  EXPECT_TRUE(are_same(Compared::kFloat, 0, word(0.0f), word(-0.0f)));
  EXPECT_TRUE(are_same(Compared::kFloat, 0, word(NAN), 0x7fffffff));
  EXPECT_FALSE(are_same(Compared::kFloat, 9, word(NAN), word(INFINITY)));
  for (const float x : {1.0f, -1.0f, 0x1p-149f, 3e38f}) {
    const uint64_t next = word(std::nextafter(x, INFINITY));
    EXPECT_FALSE(are_same(Compared::kFloat, 0, word(x), next)) << x;
    EXPECT_TRUE(are_same(Compared::kFloat, 1, word(x), next)) << x;
    EXPECT_TRUE(are_same(Compared::kFloat, 1, next, word(x))) << x;
  }
  EXPECT_TRUE(are_same(Compared::kFloat, 2, word(0x1p-149f), word(-0x1p-149f)));
  EXPECT_FALSE(are_same(Compared::kFloat, 100, word(1.0f), word(-1.0f)));
  const auto wide = [](double x) { return std::bit_cast<uint64_t>(x); };
  EXPECT_FALSE(are_same(Compared::kDouble, 0, wide(1.0), wide(std::nextafter(1.0, 2.0))));
  EXPECT_TRUE(are_same(Compared::kDouble, 1, wide(1.0), wide(std::nextafter(1.0, 2.0))));
  EXPECT_FALSE(are_same(Compared::kDouble, 1, wide(INFINITY), wide(-INFINITY)));
}

TEST(Products, AreTheSquareAndFourteenOfBertLarge) {
  const auto products = products_of_bert_large(65536);
  ASSERT_EQ(products.size(), 15u);
  EXPECT_DOUBLE_EQ(products.front().shape.flops(), 2.0 * 8192 * 8192 * 8192);
  std::map<std::string, double> flops;
  for (const auto& product : products) flops[product.name] = product.shape.flops();
  // Each of a layer's three products has the same work; a layer has 24 T H^2 forward.
  double forward = 0;
  for (const auto* name : {"q, k and v", "attention output", "feed-forward in", "feed-forward out"}) {
    EXPECT_DOUBLE_EQ(flops[name], flops[std::string(name) + ", input gradient"]);
    EXPECT_DOUBLE_EQ(flops[name], flops[std::string(name) + ", weight gradient"]);
    forward += flops[name];
  }
  EXPECT_DOUBLE_EQ(forward, 24.0 * 65536 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(flops["vocabulary"], 2.0 * 10240 * 1024 * 30528);
}

TEST(Library, ThatIsNotThereOrIsAnotherIsTold) {
  try {
    CublasLt library("/nowhere/libcublasLt.so.13");
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_NE(std::string(error.what()).find("cuBLASLt was not opened: /nowhere/libcublasLt.so.13"), std::string::npos);
  }
  try {
    CublasLt library("libm.so.6");
    FAIL();
  } catch (const ProbeError& error) {
    EXPECT_STREQ(error.what(), "libm.so.6 has no cublasLtGetVersion, so it is not cuBLASLt 13; name the file of cuBLASLt 13 in the "
                               "environment variable CLOZE_CUBLASLT");
  }
}

}  // namespace
}  // namespace cloze::cuda_probe
