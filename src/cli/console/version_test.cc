#include "cli/console/version.h"

#include <gtest/gtest.h>

namespace cloze::cli {
namespace {

TEST(Version, NamesEveryPart) {
  const std::string text = version_text();
  EXPECT_EQ(text.find("cloze " + short_version()), 0u);
  for (const char* part : {"\ncompiler ", "\noneDNN ", "\nprocessor ", "\ninstruction sets avx2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(Version, OfTheBuildSaysNothingOfTheMachine) {
  EXPECT_EQ(build_text().find(short_version() + ", "), 0u);
  EXPECT_NE(build_text().find(", oneDNN "), std::string::npos);
  EXPECT_EQ(build_text().find("avx2"), std::string::npos);
}

}  // namespace
}  // namespace cloze::cli
