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

// Writes where AddressSanitizer would stop the program if it were enabled here.
__attribute__((no_sanitize("address"))) void write_beside(GuardedBuffer& buffer, int64_t offset) {
  static_cast<char*>(buffer.data())[offset] = 0;
}

TEST(GuardedBuffer, NoticesBothSides) {
  GuardedBuffer before(8);
  write_beside(before, -1);
  EXPECT_FALSE(before.guards_are_intact());
  GuardedBuffer far_behind(8, GuardedBuffer::kWide);
  write_beside(far_behind, 8 + (64 << 10) - 1);
  EXPECT_FALSE(far_behind.guards_are_intact());
  GuardedBuffer behind(8);
  write_beside(behind, 8);
  EXPECT_FALSE(behind.guards_are_intact());
}

#if defined(__SANITIZE_ADDRESS__)
TEST(GuardedBuffer, AddressSanitizerStopsAtTheGuards) {
  GuardedBuffer buffer(12);
  const volatile char* data = static_cast<const char*>(buffer.data());
  EXPECT_DEATH(static_cast<void>(data[12]), "use-after-poison");
  EXPECT_DEATH(static_cast<void>(data[-1]), "use-after-poison");
}
#endif

}  // namespace
}  // namespace cloze::backend::testing
