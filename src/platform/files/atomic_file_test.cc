#include "platform/files/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "platform/files/file.h"
#include "platform/files/own_folder_test.h"
#include "platform/files/processes_test.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

using AtomicFileTest = OwnFolderTest;

TEST_F(AtomicFileTest, AppearsOnlyOnCommit) {
  const fs::path path = folder_ / "a";
  {
    AtomicFile file(path);
    file.write("half");
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  write_file_atomically(path, std::string(3 << 20, 'x') + "end");
  EXPECT_EQ(read_file(path).size(), (3u << 20) + 3);
  EXPECT_EQ(MappedFile(path).text().substr(3 << 20), "end");
}

TEST_F(AtomicFileTest, ReplacesFilesOnly) {
  EXPECT_THROW(AtomicFile{fs::path()}, UserError);
  EXPECT_THROW(AtomicFile{folder_}, UserError);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(AtomicFile{folder_ / "pipe"}, UserError);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(AtomicFileTest, WhatAKilledWriterLeftIsRemovedAndALivingOnesIsNot) {
  const fs::path path = folder_ / "a";
  std::ofstream(folder_ / "a.tmp-999999") << "half";
  std::ofstream(folder_ / "b.tmp-999999") << "of another file";
  std::ofstream(folder_ / "a.tmp-notes") << "of the user";
  std::ofstream(folder_ / "a.tmp-") << "of the user";
  const fs::path living = folder_ / "a.tmp-888888";
  const int descriptor = ::open(living.c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  write_file_atomically(path, "whole");
  EXPECT_FALSE(fs::exists(folder_ / "a.tmp-999999"));
  for (const char* kept : {"b.tmp-999999", "a.tmp-notes", "a.tmp-"}) {
    EXPECT_TRUE(fs::exists(folder_ / kept)) << kept;
  }
  EXPECT_TRUE(fs::exists(living));
  EXPECT_EQ(read_file(path), "whole");
  ::close(descriptor);
}

// Each writer looks for leftovers of killed writers while the others write.
TEST_F(AtomicFileTest, WritersOfOneFileDoNotRemoveEachOthersWork) {
  const fs::path path = folder_ / "a";
  run_in_three_processes([&] {
    for (int i = 0; i < 400; ++i) write_file_atomically(path, "whole");
  });
  EXPECT_EQ(read_file(path), "whole");
}

}  // namespace
}  // namespace cloze::platform
