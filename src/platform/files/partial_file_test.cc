#include "platform/files/partial_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/files/own_folder_test.h"
#include "platform/files/processes_test.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

class PartialFileTest : public OwnFolderTest {
 protected:
  void SetUp() override {
    OwnFolderTest::SetUp();
    path_ = folder_ / "a";
    partial_ = folder_ / "a.partial";
  }

  fs::path path_, partial_;
};

TEST_F(PartialFileTest, GrowsOverSeveralLives) {
  {
    PartialFile file(path_);
    file.append("one two");
    file.sync();
    file.append(" lost");
  }
  EXPECT_FALSE(fs::exists(path_));
  {
    PartialFile file(path_);
    EXPECT_EQ(file.bytes(), 7u) << "what was not synced is in nobody's hands";
    file.keep(4);
    file.append("three");
    EXPECT_EQ(file.bytes(), 9u);
    EXPECT_EQ(file.map().text(), "one three");
    file.append(std::string(3 << 20, 'x'));
    file.append("end");
    file.commit();
  }
  EXPECT_FALSE(fs::exists(partial_));
  EXPECT_EQ(read_file(path_), "one three" + std::string(3 << 20, 'x') + "end");
}

TEST_F(PartialFileTest, LeavesNothingWhenEmptyOrRemoved) {
  { const PartialFile file(path_); }
  EXPECT_TRUE(fs::is_empty(folder_));
  {
    PartialFile file(path_);
    file.append("one");
    file.sync();
    EXPECT_TRUE(fs::exists(partial_));
    file.remove();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PartialFileTest, HasOneWriter) {
  const PartialFile file(path_);
  try {
    const PartialFile other(path_);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()),
              "another process is writing " + path_.string() + "; wait for it and run again");
  }
  EXPECT_TRUE(fs::exists(partial_));
}

// Each may open the file just before another gives it its name.
TEST_F(PartialFileTest, AFinishedFileIsNotWrittenTo) {
  run_in_three_processes([&] {
    for (int written = 0; written < 100;) {
      try {
        PartialFile file(path_);
        if (file.bytes() != 0) ::_exit(1);
        file.append("whole");
        file.commit();
        ++written;
      } catch (const EnvironmentError&) {
        continue;  // another writes it
      }
    }
  });
  EXPECT_EQ(read_file(path_), "whole");
  EXPECT_FALSE(fs::exists(partial_));
}

TEST_F(PartialFileTest, ReplacesFilesOnly) {
  EXPECT_THROW(PartialFile{fs::path()}, UserError);
  EXPECT_THROW(PartialFile{folder_}, UserError);
  EXPECT_THROW(PartialFile(folder_ / "missing" / "a"), UserError);
}

}  // namespace
}  // namespace cloze::platform
