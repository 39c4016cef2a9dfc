#include "checkpoints/conversion_action.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

TEST(ConversionAction, HasTheNamesOfTheOriginalAndMore) {
  EXPECT_EQ(conversion_action("google2graphcore").to, CheckpointForm::kGraphcore);
  EXPECT_EQ(conversion_action("graphcore2google").from, CheckpointForm::kGraphcore);
  EXPECT_EQ(conversion_action("hf2hf").from, CheckpointForm::kHuggingFace);
  for (const char* name : {"research2apps", "apps2research"}) {
    try {
      conversion_action(name);
      FAIL() << name;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("GroupBERT is not part of cloze"),
                std::string::npos);
    }
  }
  EXPECT_THROW(conversion_action("hf2keras"), UserError);
}

}  // namespace
}  // namespace cloze::checkpoints
