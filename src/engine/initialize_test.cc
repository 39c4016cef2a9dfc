#include "engine/initialize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/philox.h"

namespace cloze::engine {
namespace {

TEST(Initialize, TruncatedNormalHasItsDeviationAndCut) {
  std::vector<float> values(20000);
  initialize(values, graph::Init::truncated_normal(0.02), "w", 7, 2);
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : values) {
    EXPECT_LE(std::abs(value), 0.04f);
    sum += value;
    squares += value * value;
  }
  // A normal distribution cut at two standard deviations has 0.8796 of its standard deviation.
  EXPECT_NEAR(std::sqrt(squares / 20000), 0.02 * 0.8796, 0.0003);
  EXPECT_NEAR(sum / 20000, 0.0, 0.0005);
}

TEST(Initialize, DependsOnNameAndSeedOnly) {
  const auto draw = [](const char* name, uint64_t seed) {
    std::vector<float> values(8);
    initialize(values, graph::Init::truncated_normal(1.0), name, seed, 1);
    return values;
  };
  EXPECT_EQ(draw("a", 1), draw("a", 1));
  EXPECT_NE(draw("a", 1), draw("b", 1));
  EXPECT_NE(draw("a", 1), draw("a", 2));
}

// One number after the other.
std::vector<float> drawn_in_order(size_t count, double deviation, uint64_t seed, uint64_t stream) {
  PhiloxStream random(seed, stream);
  std::vector<float> values;
  while (values.size() < count) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    const double normal = radius * std::cos(2.0 * std::numbers::pi * random.uniform());
    if (std::abs(normal) <= 2.0) values.push_back(static_cast<float>(deviation * normal));
  }
  return values;
}

TEST(Initialize, ThreadsMakeTheNumbersThatOneThreadDrawsInOrder) {
  constexpr uint64_t kStream = 0xaf63ea4c86020456;  // of the name "w"
  for (const size_t count : {1, 2, 17, 768, 40'000, 300'001}) {
    const std::vector<float> expected = drawn_in_order(count, 0.02, 7, kStream);
    for (const int threads : {1, 2, 5}) {
      std::vector<float> values(count);
      initialize(values, graph::Init::truncated_normal(0.02), "w", 7, threads);
      EXPECT_EQ(values, expected) << count << " by " << threads;
    }
  }
}

}  // namespace
}  // namespace cloze::engine
