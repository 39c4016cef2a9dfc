#include "formats/json.h"

#include <gtest/gtest.h>

namespace cloze::formats {
namespace {

TEST(ValueDifferences, NamesWhatBothHaveWithBothValues) {
  const Json stored = {{"seed", 3}, {"data", "x"}, {"only_here", 1}, {"rate", 0.1}};
  const Json current = {{"seed", 5}, {"data", "y"}, {"only_there", 1}, {"rate", 0.1}};
  EXPECT_EQ(value_differences(stored, current, "this run has"),
            "data \"x\", this run has \"y\"; seed 3, this run has 5");
  EXPECT_EQ(value_differences(stored, stored, "this run has"), "");
}

}  // namespace
}  // namespace cloze::formats
