#include "cli/version.h"

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

}  // namespace
}  // namespace cloze::cli
