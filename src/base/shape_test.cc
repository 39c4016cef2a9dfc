#include "base/shape.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze {
namespace {

TEST(Shape, IndexesFromBothEnds) {
  const Shape shape{4, 5, 6};
  EXPECT_EQ(shape[0], 4);
  EXPECT_EQ(shape[-1], 6);
  EXPECT_EQ(shape.elements(), 120);
  EXPECT_EQ(shape.to_string(), "[4, 5, 6]");
  EXPECT_THROW(shape[3], InternalError);
}

TEST(Shape, ScalarHasOneElement) { EXPECT_EQ(Shape{}.elements(), 1); }

}  // namespace
}  // namespace cloze
