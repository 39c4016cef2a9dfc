#include "platform/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "platform/memory.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("cloze_file_test_" +
               std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FileTest, AtomicFileAppearsOnlyOnCommit) {
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

TEST_F(FileTest, PiecesAreTheWholeFileInOrder) {
  const fs::path path = folder_ / "a";
  std::string text;
  while (text.size() < 3 << 20) text += std::to_string(text.size()) + " ";
  write_file_atomically(path, text);
  std::string read;
  size_t pieces = 0;
  read_in_pieces(path, [&](std::span<const std::byte> piece) {
    read.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    ++pieces;
  });
  EXPECT_EQ(read, text);
  EXPECT_GT(pieces, 1u);
  EXPECT_THROW(read_in_pieces(folder_ / "none", [](auto) {}), UserError);
}

// Memory of this process that holds pages of files.
TEST_F(FileTest, ReleasedPagesLeaveMemoryAndComeBack) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "what the sanitizer keeps of each byte that is read would be counted";
#endif
  const fs::path path = folder_ / "a";
  const std::string text(64 << 20, 'x');
  write_file_atomically(path, text);
  const MappedFile file(path);
  const int64_t before = resident_bytes();
  EXPECT_EQ(file.text(), text);
  const int64_t read = resident_bytes();
  file.release_memory();
  EXPECT_GT(read - before, 60 << 20);
  EXPECT_LT(resident_bytes() - before, 4 << 20);
  EXPECT_EQ(file.text(), text);
}

TEST_F(FileTest, AtomicFileReplacesFilesOnly) {
  EXPECT_THROW(AtomicFile{fs::path()}, UserError);
  EXPECT_THROW(AtomicFile{folder_}, UserError);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(AtomicFile{folder_ / "pipe"}, UserError);
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(FileTest, WhatAKilledWriterLeftIsRemovedAndALivingOnesIsNot) {
  const fs::path path = folder_ / "a";
  std::ofstream(folder_ / "a.tmp-999999") << "half";
  std::ofstream(folder_ / "b.tmp-999999") << "of another file";
  const fs::path living = folder_ / "a.tmp-888888";
  const int descriptor = ::open(living.c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  write_file_atomically(path, "whole");
  EXPECT_FALSE(fs::exists(folder_ / "a.tmp-999999"));
  EXPECT_TRUE(fs::exists(folder_ / "b.tmp-999999"));
  EXPECT_TRUE(fs::exists(living));
  EXPECT_EQ(read_file(path), "whole");
  ::close(descriptor);
}

// Each looks for what killed writers left while the others write.
TEST_F(FileTest, WritersOfOneFileDoNotRemoveEachOthersWork) {
  const fs::path path = folder_ / "a";
  const auto write_often = [&] {
    for (int i = 0; i < 400; ++i) write_file_atomically(path, "whole");
  };
  std::vector<pid_t> writers;
  for (int i = 0; i < 3; ++i) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    try {
      write_often();
      ::_exit(0);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  for (const pid_t writer : writers) {
    int status = -1;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_file(path), "whole");
}

TEST_F(FileTest, AppendFileCutsAndGrows) {
  const fs::path path = folder_ / "log";
  AppendFile(path).append("one\ntwo\n");
  AppendFile(path, 4).append("three\n");
  EXPECT_EQ(read_file(path), "one\nthree\n");
}

// A killed writer leaves its temporary file.
TEST_F(FileTest, ExpandPathsLeavesOurTemporaryFilesOut) {
  for (const char* name :
       {"a.txt", "a.txt.tmp-4711", "a.txt.partial", "b.tmp-notes", "c.txt.tmp-"}) {
    write_file_atomically(folder_ / name, "");
  }
  EXPECT_EQ(expand_paths((folder_ / "a*").string()), (std::vector<fs::path>{folder_ / "a.txt"}));
  EXPECT_EQ(expand_paths(folder_.string()).size(), 3u);
  const fs::path named = folder_ / "a.txt.tmp-4711";
  EXPECT_EQ(expand_paths(named.string()), (std::vector<fs::path>{named})) << "called by its name";
  fs::remove(folder_ / "a.txt");
  EXPECT_THROW(expand_paths((folder_ / "a*").string()), UserError);
}

TEST_F(FileTest, ExpandPathsKnowsStandardInput) {
  EXPECT_EQ(expand_paths("-"), (std::vector<fs::path>{"-"}));
}

TEST_F(FileTest, ExpandPathsKnowsListsGlobsAndFolders) {
  for (const char* name : {"b.txt", "a.txt", "c.dat"}) write_file_atomically(folder_ / name, "");
  EXPECT_EQ(expand_paths((folder_ / "*.txt").string()).size(), 2u);
  EXPECT_EQ(expand_paths((folder_ / "*.txt").string() + "," + (folder_ / "c.dat").string()).size(),
            3u);
  EXPECT_EQ(expand_paths(folder_.string()).front().filename(), "a.txt");
  EXPECT_THROW(expand_paths((folder_ / "*.none").string()), UserError);
}

TEST_F(FileTest, ExpandPathsTakesANameBeforeAPattern) {
  for (const char* name : {"a[1].txt", "a1.txt", "b*.txt", "b2.txt", "c?.txt"}) {
    write_file_atomically(folder_ / name, "");
  }
  for (const char* name : {"a[1].txt", "b*.txt", "c?.txt"}) {
    EXPECT_EQ(expand_paths((folder_ / name).string()), (std::vector<fs::path>{folder_ / name}));
  }
  EXPECT_EQ(expand_paths((folder_ / "a[0-9].txt").string()),
            (std::vector<fs::path>{folder_ / "a1.txt"}));
}

std::string refusal_of(const ReadAndWritten& files) {
  try {
    require_other_files(files);
  } catch (const UserError& error) {
    return error.what();
  }
  return "taken";
}

TEST_F(FileTest, AnInputIsNoOutput) {
  write_file_atomically(folder_ / "text", "");
  write_file_atomically(folder_ / "other", "");
  fs::create_hard_link(folder_ / "text", folder_ / "link");
  EXPECT_EQ(refusal_of({.inputs = {folder_ / "other", folder_ / "text"},
                        .outputs = {folder_ / "new", folder_ / "." / "text"}}),
            "writing " + (folder_ / "." / "text").string() + " would overwrite " +
                (folder_ / "text").string() + ", which is read; name another file");
  EXPECT_NE(refusal_of({.inputs = {folder_ / "text"}, .outputs = {folder_ / "link"}}), "taken");
  EXPECT_EQ(refusal_of({.inputs = {"-", "", folder_ / "text", folder_ / "none"},
                        .outputs = {"", "-", folder_ / "other", folder_ / "none"}}),
            "taken");
}

TEST_F(FileTest, NothingIsWrittenIntoAFolderThatIsRead) {
  fs::create_directories(folder_ / "store" / "deep");
  fs::create_directory_symlink(folder_ / "store", folder_ / "link");
  EXPECT_EQ(
      refusal_of({.inputs = {folder_ / "store"}, .outputs = {folder_ / "store" / "store.json"}}),
      (folder_ / "store" / "store.json").string() + " lies in " + (folder_ / "store").string() +
          ", which is read; name a file outside of it");
  for (const char* inside : {"store/deep/new", "store/none/new", "link/new"}) {
    EXPECT_NE(refusal_of({.inputs = {folder_ / "store"}, .outputs = {folder_ / inside}}), "taken")
        << inside;
  }
  EXPECT_EQ(refusal_of({.inputs = {folder_ / "store"}, .outputs = {"", folder_ / "storeroom"}}),
            "taken");
}

TEST_F(FileTest, MissingFileNamesThePath) {
  try {
    read_file(folder_ / "nothing");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos);
  }
}

TEST(ReadStreamTest, APipeIsReadToItsEnd) {
  const fs::path pipe = fs::path(testing::TempDir()) / "cloze_read_stream_pipe";
  fs::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string text(3'000'000, 'x');
  std::thread writer([&] { std::ofstream(pipe) << text; });
  std::string read;
  read_stream(pipe, [&](std::string_view bytes) { read += bytes; });
  writer.join();
  fs::remove(pipe);
  EXPECT_EQ(read, text);
  EXPECT_THROW(read_stream("/no/such/pipe", [](std::string_view) {}), UserError);
}

}  // namespace
}  // namespace cloze::platform
