#include "platform/scratch_file.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFile, IsReadInAnyOrderAndHasNoName) {
  const fs::path folder = fs::path(testing::TempDir()) / "scratch_file_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  ScratchFile file(folder);
  EXPECT_TRUE(fs::is_empty(folder));
  file.append("one");
  file.append("");
  file.append("three");
  EXPECT_EQ(file.bytes(), 8u);
  EXPECT_EQ(file.read(3, 5), "three");
  EXPECT_EQ(file.read(0, 3), "one");
  EXPECT_EQ(file.read(8, 0), "");
  EXPECT_THROW(file.read(7, 2), InternalError);
  fs::remove_all(folder);
}

TEST(ScratchFile, AFolderThatIsNotThereIsNamed) {
  try {
    ScratchFile file("/no/such/folder");
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("scratch file in /no/such/folder"), std::string::npos);
  }
}

}  // namespace
}  // namespace cloze::platform
