#include "platform/files/folder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

using MadeFolderTest = OwnFolderTest;

TEST_F(MadeFolderTest, GoesWhenNothingWasPutThere) {
  {
    const MadeFolder folder(folder_ / "a" / "b" / "");
    EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
  }
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_TRUE(fs::exists(folder_)) << "it was there before";
}

TEST_F(MadeFolderTest, StaysWithWhatIsInIt) {
  {
    const MadeFolder folder(folder_ / "a" / "b");
    write_file_atomically(folder_ / "a" / "file", "text");
  }
  EXPECT_TRUE(fs::exists(folder_ / "a" / "file"));
  EXPECT_FALSE(fs::exists(folder_ / "a" / "b"));
}

TEST_F(MadeFolderTest, AnEmptyFolderThatWasThereStays) {
  { const MadeFolder folder(folder_); }
  EXPECT_TRUE(fs::exists(folder_));
}

TEST_F(MadeFolderTest, RefusesWhatIsNoFolder) {
  write_file_atomically(folder_ / "file", "text");
  EXPECT_THROW(MadeFolder(folder_ / "file"), UserError);
}

}  // namespace
}  // namespace cloze::platform
