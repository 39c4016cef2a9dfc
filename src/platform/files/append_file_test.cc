#include "platform/files/append_file.h"

#include <gtest/gtest.h>

#include "platform/files/file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

using AppendFileTest = OwnFolderTest;

TEST_F(AppendFileTest, CutsAndGrows) {
  const fs::path path = folder_ / "log";
  AppendFile(path).append("one\ntwo\n");
  AppendFile(path, 4).append("three\n");
  EXPECT_EQ(read_file(path), "one\nthree\n");
}

}  // namespace
}  // namespace cloze::platform
