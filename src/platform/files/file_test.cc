#include "platform/files/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <initializer_list>
#include <string>
#include <thread>

#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"
#include "platform/memory.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

using FileTest = OwnFolderTest;

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

TEST_F(FileTest, MissingFileNamesThePath) {
  try {
    read_file(folder_ / "nothing");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos);
  }
}

TEST_F(FileTest, PipesAndDevicesAreNotTakenForEmptyFiles) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Descriptor writer = open_file(pipe, O_RDWR, "open");  // so readers need not wait for one
  for (const fs::path& path : {pipe, fs::path("/dev/null")}) {
    for (const std::function<void()>& use : std::initializer_list<std::function<void()>>{
             [&] { MappedFile{path}; }, [&] { file_bytes(path); }}) {
      try {
        use();
        ADD_FAILURE() << path;
      } catch (const UserError& error) {
        EXPECT_EQ(error.what(), "cannot read " + path.string() +
                                    ": it is a pipe or a device; write it to a file first");
      }
    }
  }
}

TEST_F(FileTest, BytesAreThoseOfRegularFiles) {
  write_file_atomically(folder_ / "a", "four");
  EXPECT_EQ(file_bytes(folder_ / "a"), 4);
  EXPECT_THROW(file_bytes(folder_ / "none"), UserError);
  EXPECT_THROW(file_bytes(folder_), UserError);
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
