#include "engine/initialize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cloze::engine {
namespace {

TEST(Initialize, TruncatedNormalHasItsDeviationAndCut) {
  std::vector<float> values(20000);
  initialize(values, graph::Init::truncated_normal(0.02), "w", 7);
  double sum = 0.0;
  double squares = 0.0;
  for (const float value : values) {
    EXPECT_LE(std::abs(value), 0.04f);
    sum += value;
    squares += value * value;
  }
  // A normal cut at two deviations has 0.8796 of its deviation.
  EXPECT_NEAR(std::sqrt(squares / 20000), 0.02 * 0.8796, 0.0003);
  EXPECT_NEAR(sum / 20000, 0.0, 0.0005);
}

TEST(Initialize, DependsOnNameAndSeedOnly) {
  const auto draw = [](const char* name, uint64_t seed) {
    std::vector<float> values(8);
    initialize(values, graph::Init::truncated_normal(1.0), name, seed);
    return values;
  };
  EXPECT_EQ(draw("a", 1), draw("a", 1));
  EXPECT_NE(draw("a", 1), draw("b", 1));
  EXPECT_NE(draw("a", 1), draw("a", 2));
}

}  // namespace
}  // namespace cloze::engine
