#include "platform/temporary_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "base/error.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFileTest, HoldsWhatWasWrittenAndLeavesNothing) {
  TemporaryFile file;
  const fs::path path = file.path();
  EXPECT_TRUE(fs::exists(path));
  file.write("one ");
  file.write("two");
  const MappedFile mapped = file.map();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(mapped.text(), "one two");
}

TEST(TemporaryFileTest, OneThatIsNotMappedGoesToo) {
  fs::path path;
  {
    const TemporaryFile file;
    path = file.path();
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFileTest, AFolderThatIsNotThereIsNamed) {
  const char* const before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/proc", 1);
  try {
    const TemporaryFile file;
    ADD_FAILURE();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("/proc"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos) << error.what();
  }
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old.c_str(), 1);
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
