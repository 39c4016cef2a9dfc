#include "base/philox.h"

#include <gtest/gtest.h>

namespace cloze {
namespace {

// Known answers of Random123's kat_vectors file for philox4x32-10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxCounter{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
}

TEST(PhiloxStream, BelowStaysInRangeAndReachesAll) {
  PhiloxStream stream(1, 2);
  int seen[7] = {};
  for (int i = 0; i < 7000; ++i) ++seen[stream.below(7)];
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace cloze
