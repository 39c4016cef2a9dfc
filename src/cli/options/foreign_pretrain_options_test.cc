#include "cli/options/foreign_pretrain_options.h"

#include <gtest/gtest.h>

#include "platform/file.h"

namespace cloze::cli {
namespace {

TEST(ForeignPretrainOptions, EachHasAReasonAndARowInTheDocument) {
  const std::string document = platform::read_file(CLOZE_SOURCE_DIR "/docs/fidelity/options.md");
  for (const ForeignOption& option : foreign_pretrain_options()) {
    EXPECT_FALSE(option.reason.empty()) << option.name;
    EXPECT_NE(document.find("`" + option.name + "`"), std::string::npos) << option.name;
  }
}

}  // namespace
}  // namespace cloze::cli
