#include "data/offline_packing/length_histogram.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::data {
namespace {

TEST(SpreadLengths, AreAsFrequentAsInTheHistogram) {
  LengthHistogram histogram;
  histogram.add(3, 500);
  histogram.add(7, 250);
  histogram.add(12, 250);
  const SpreadLengths lengths(histogram);
  EXPECT_EQ(lengths.longest(), 12);
  LengthHistogram seen;
  for (int64_t i = 0; i < 1000; ++i) seen.add(lengths.length(i));
  EXPECT_NEAR(static_cast<double>(seen.counts[3]), 500.0, 3.0);
  EXPECT_NEAR(static_cast<double>(seen.counts[7]), 250.0, 3.0);
  EXPECT_NEAR(static_cast<double>(seen.counts[12]), 250.0, 3.0);
  EXPECT_EQ(seen.num_sequences(), 1000);
}

TEST(SpreadLengths, NeedASequence) { EXPECT_THROW(SpreadLengths{LengthHistogram{}}, UserError); }

}  // namespace
}  // namespace cloze::data
