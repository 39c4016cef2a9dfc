#include "backend/testing/guarded_buffer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::backend::testing {
namespace {

TEST(GuardedBuffer, IsAlignedAndFullOfNan) {
  for (const size_t bytes : {4u, 60u, 1000u}) {
    GuardedBuffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_TRUE(std::isnan(static_cast<float*>(buffer.data())[bytes / 4 - 1]));
    EXPECT_TRUE(buffer.guards_are_intact());
  }
}

TEST(GuardedBuffer, NoticesBothSides) {
  GuardedBuffer before(8);
  static_cast<char*>(before.data())[-1] = 0;
  EXPECT_FALSE(before.guards_are_intact());
  GuardedBuffer behind(8);
  static_cast<char*>(behind.data())[8] = 0;
  EXPECT_FALSE(behind.guards_are_intact());
}

}  // namespace
}  // namespace cloze::backend::testing
