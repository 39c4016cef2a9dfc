#include "serve/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::serve {
namespace {

TEST(Histogram, CountsByUpperBound) {
  Histogram histogram({1, 2.5, 10});
  for (const double value : {0.5, 1.0, 2.0, 3.0, 11.0}) histogram.add(value);
  EXPECT_EQ(histogram.prometheus("x"),
            "x_bucket{le=\"1\"} 2\nx_bucket{le=\"2.5\"} 3\nx_bucket{le=\"10\"} 4\n"
            "x_bucket{le=\"+Inf\"} 5\nx_sum 17.5\nx_count 5\n");
  EXPECT_EQ(histogram.mean(), 3.5);
}

TEST(Histogram, BoundOfAShare) {
  Histogram histogram({1, 2, 4});
  EXPECT_EQ(histogram.mean(), 0.0);
  for (const double value : {1.0, 2.0, 2.0, 9.0}) histogram.add(value);
  EXPECT_EQ(histogram.bound_of_share(0.25), 1);
  EXPECT_EQ(histogram.bound_of_share(0.5), 2);
  EXPECT_EQ(histogram.bound_of_share(0.75), 2);
  EXPECT_TRUE(std::isinf(histogram.bound_of_share(0.76)));
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0);
}

}  // namespace
}  // namespace cloze::serve
