#include "tasks/embedding/text_collection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/philox.h"

namespace cloze::tasks {
namespace {

TEST(TextCollection, TheNearestComeFirstAndOfEqualOnesTheFirst) {
  const TextCollection texts(
      {"up", "right", "far up", "slant", "none"},
      {.rows = 5, .dimensions = 2, .values = {0, 1, 2, 0, 0, 9, 3, 4, 0, 0}});
  const std::vector<float> query{0, 5};
  std::vector<std::string> names;
  for (const FoundText& found : texts.nearest(query, 9)) names.push_back(texts.text(found.index));
  EXPECT_EQ(names, (std::vector<std::string>{"up", "far up", "slant", "right", "none"}));
  const auto best = texts.nearest(query, 3);
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].cosine, 1.0);
  EXPECT_NEAR(best[2].cosine, 0.8, 1e-7);
  EXPECT_EQ(texts.nearest(std::vector<float>{0, 0}, 1)[0].index, 0);
}

// Each number of dimensions, so that sums side by side end anywhere.
TEST(TextCollection, FindsWhatComparingAllFinds) {
  constexpr int64_t kTexts = 40;
  PhiloxStream random(3, 0);
  for (int64_t dimensions = 1; dimensions < 20; ++dimensions) {
    std::vector<float> values(static_cast<size_t>(kTexts * dimensions)),
        query(static_cast<size_t>(dimensions));
    for (float& value : values) value = static_cast<float>(random.below(2001)) - 1000.0F;
    for (float& value : query) value = static_cast<float>(random.below(2001)) - 1000.0F;
    const TextCollection texts(std::vector<std::string>(kTexts, "a"),
                               {.rows = kTexts, .dimensions = dimensions, .values = values});
    for (const FoundText& found : texts.nearest(query, kTexts)) {
      double product = 0.0, one = 0.0, other = 0.0;
      for (int64_t j = 0; j < dimensions; ++j) {
        const double x = values[static_cast<size_t>(found.index * dimensions + j)];
        const double y = query[static_cast<size_t>(j)];
        product += x * y, one += x * x, other += y * y;
      }
      EXPECT_NEAR(found.cosine, product / std::max(std::sqrt(one * other), 1e-12), 1e-6);
    }
  }
}

TEST(TextCollection, EachTextHasAVector) {
  try {
    const TextCollection texts({"a", "b"}, {.rows = 1, .dimensions = 1, .values = {1}});
    FAIL() << "taken";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "there are 2 texts and 1 vectors; make the vectors of these texts with cloze embed");
  }
}

}  // namespace
}  // namespace cloze::tasks
