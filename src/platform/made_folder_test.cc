#include "platform/file.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

class MadeFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(top_);
    fs::create_directories(top_);
  }
  void TearDown() override { fs::remove_all(top_); }
  const fs::path top_ = fs::path(testing::TempDir()) / "cloze_made_folder_test";
};

TEST_F(MadeFolderTest, GoesWhenNothingWasPutThere) {
  {
    const MadeFolder folder(top_ / "a" / "b" / "");
    EXPECT_TRUE(fs::is_directory(top_ / "a" / "b"));
  }
  EXPECT_FALSE(fs::exists(top_ / "a"));
  EXPECT_TRUE(fs::exists(top_)) << "it was there before";
}

TEST_F(MadeFolderTest, StaysWithWhatIsInIt) {
  {
    const MadeFolder folder(top_ / "a" / "b");
    write_file_atomically(top_ / "a" / "file", "text");
  }
  EXPECT_TRUE(fs::exists(top_ / "a" / "file"));
  EXPECT_FALSE(fs::exists(top_ / "a" / "b"));
}

TEST_F(MadeFolderTest, AnEmptyFolderThatWasThereStays) {
  { const MadeFolder folder(top_); }
  EXPECT_TRUE(fs::exists(top_));
}

TEST_F(MadeFolderTest, RefusesWhatIsNoFolder) {
  write_file_atomically(top_ / "file", "text");
  EXPECT_THROW(MadeFolder(top_ / "file"), EnvironmentError);
}

}  // namespace
}  // namespace cloze::platform
