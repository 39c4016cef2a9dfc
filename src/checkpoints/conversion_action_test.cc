#include "checkpoints/conversion_action.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

TEST(ConversionAction, HasTheNamesOfTheOriginalAndMore) {
  EXPECT_EQ(conversion_action("google2graphcore").to, CheckpointForm::kGraphcore);
  EXPECT_EQ(conversion_action("graphcore2google").from, CheckpointForm::kGraphcore);
  EXPECT_EQ(conversion_action("hf2hf").from, CheckpointForm::kHuggingFace);
  EXPECT_EQ(conversion_action("research2apps").from, CheckpointForm::kResearch);
  EXPECT_EQ(conversion_action("research2apps").to, CheckpointForm::kGraphcore);
  EXPECT_EQ(conversion_action("apps2research").to, CheckpointForm::kResearch);
  EXPECT_EQ(conversion_action("apps2hf").from, CheckpointForm::kGraphcore);
  for (const char* name : {"hf2keras", "keras2hf", "hf", "hf2", ""}) {
    EXPECT_THROW(conversion_action(name), UserError) << name;
  }
}

}  // namespace
}  // namespace cloze::checkpoints
