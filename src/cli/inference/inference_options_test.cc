#include "cli/inference/inference_options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::cli {
namespace {

TEST(InferenceOptions, KnowTwoPrecisions) {
  EXPECT_EQ(precision_named("f32"), DType::kF32);
  EXPECT_EQ(precision_named("bf16"), DType::kBF16);
  try {
    precision_named("fp16");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--precision is fp16; choose f32 or bf16");
  }
}

}  // namespace
}  // namespace cloze::cli
