#include "platform/processor.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cloze::platform {
namespace {

TEST(Processor, HasTheFloorThisProgramWasBuiltFor) {
#if defined(__AVX2__)
  const auto features = processor_features();
  EXPECT_NE(std::find(features.begin(), features.end(), "avx2"), features.end());
#else
  GTEST_SKIP() << "not built for AVX2";
#endif
}

TEST(Processor, HasAName) {
  const std::string name = processor_name();
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(name.find('\n'), std::string::npos);
}

TEST(Processor, GivesNoTilesThatItLacks) {
  const auto features = processor_features();
  const bool has_amx = std::find(features.begin(), features.end(), "amx-bf16") != features.end();
  EXPECT_TRUE(has_amx || !request_tiles());
}

}  // namespace
}  // namespace cloze::platform
