#include "engine/normal_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"

namespace cloze::engine {
namespace {

void expect_near_the_library(const UniformPairs& pairs) {
  NormalNumbers normals;
  normal_numbers(pairs, normals);
  for (int i = 0; i < kNormalsAtOnce; ++i) {
    const double exact = normal_number(pairs.u[i], pairs.v[i]);
    EXPECT_NEAR(normals[i], exact, kNormalRelativeError * std::abs(exact) + kNormalAbsoluteError)
        << pairs.u[i] << " " << pairs.v[i];
  }
}

TEST(NormalNumbers, AreThoseOfTheLibrary) {
  PhiloxStream random(1, 2);
  for (int round = 0; round < 2000; ++round) {
    UniformPairs pairs;
    for (int i = 0; i < kNormalsAtOnce; ++i) {
      pairs.u[i] = static_cast<float>(random.uniform());
      pairs.v[i] = static_cast<float>(random.uniform());
    }
    expect_near_the_library(pairs);
  }
}

// Steps of 2^-24 from either end, and around the quarters, where the cosine is 0 or largest.
TEST(NormalNumbers, AreThoseOfTheLibraryAtTheBorders) {
  for (const float quarter : {0.0f, 0.25f, 0.5f, 0.75f, 1.0f}) {
    UniformPairs pairs;
    for (int i = 0; i < kNormalsAtOnce; ++i) {
      const float place = quarter + static_cast<float>(i - kNormalsAtOnce / 2) * 0x1p-24f;
      pairs.v[i] = place - std::floor(place);
      pairs.u[i] = static_cast<float>(i < 128 ? i : (1 << 24) - 256 + i) * 0x1p-24f;
    }
    expect_near_the_library(pairs);
  }
}

}  // namespace
}  // namespace cloze::engine
