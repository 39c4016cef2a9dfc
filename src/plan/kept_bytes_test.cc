#include "plan/kept_bytes.h"

#include <gtest/gtest.h>

namespace cloze::plan {
namespace {

TEST(KeptBytes, WhatKernelsShareCountsOnce) {
  KeptBytes kept;
  kept.add({});
  EXPECT_EQ(kept.bytes(), 0);
  kept.add({{"library", 1000}, {"code of 2 x 3", 100}, {"", 1}});
  kept.add({{"library", 1000}, {"code of 2 x 3", 100}, {"", 1}});
  EXPECT_EQ(kept.bytes(), 1102);
  kept.add({{"library", 1000}, {"code of 4 x 3", 100}, {"", 1}});
  EXPECT_EQ(kept.bytes(), 1203);
}

}  // namespace
}  // namespace cloze::plan
