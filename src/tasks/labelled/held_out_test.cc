#include "tasks/labelled/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/philox.h"

namespace cloze::tasks {
namespace {

// Random classes, some of one row.
std::vector<int64_t> some_classes(uint64_t seed) {
  PhiloxStream random(seed, 1);
  std::vector<int64_t> classes(1 + random.below(300));
  const uint32_t count = 1 + random.below(20);
  for (int64_t& one : classes) one = random.below(1 + random.below(count));
  return classes;
}

TEST(HeldOutTest, EachClassHasItsShareAndKeepsARow) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const std::vector<int64_t> classes = some_classes(seed);
    const double share = 0.05 + 0.05 * static_cast<double>(seed % 10);
    const std::vector<bool> held_out = held_out_rows(classes, share, seed);
    std::map<int64_t, int64_t> rows, held;
    for (size_t i = 0; i < classes.size(); ++i) {
      ++rows[classes[i]];
      held[classes[i]] += held_out[i] ? 1 : 0;
    }
    for (const auto& [number, count] : rows) {
      EXPECT_LT(held[number], count) << seed;
      EXPECT_LE(std::abs(static_cast<double>(held[number]) - share * static_cast<double>(count)),
                1.0 + share)
          << seed << ": class " << number << " of " << count << " rows";
    }
  }
}

TEST(HeldOutTest, AShareOfAllIsHeldOut) {
  const std::vector<int64_t> classes(1000);
  for (const double share : {0.0, 0.1, 0.25, 0.5}) {
    const std::vector<bool> held_out = held_out_rows(classes, share, 7);
    EXPECT_NEAR(static_cast<double>(std::ranges::count(held_out, true)), 1000 * share, 1.0);
  }
}

TEST(HeldOutTest, TheSeedChooses) {
  const std::vector<int64_t> classes(100);
  EXPECT_EQ(held_out_rows(classes, 0.2, 1), held_out_rows(classes, 0.2, 1));
  EXPECT_NE(held_out_rows(classes, 0.2, 1), held_out_rows(classes, 0.2, 2));
}

}  // namespace
}  // namespace cloze::tasks
