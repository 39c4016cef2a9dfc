#include "platform/files/temporary_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/error.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

// TMPDIR while this object lives.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& folder) {
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFolder() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }

 private:
  std::optional<std::string> before_;
};

TEST(TemporaryFileTest, HoldsWhatWasAppendedUnderNoName) {
  const fs::path folder = fs::path(testing::TempDir()) / "temporary_file_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const TemporaryFolder here(folder);
  std::optional<TemporaryFile> file(std::in_place);
  EXPECT_TRUE(fs::is_empty(folder));
  file->append("one");
  file->append("");
  file->append("three");
  EXPECT_EQ(file->bytes(), 8u);
  EXPECT_EQ(file->read(3, 5), "three");
  EXPECT_EQ(file->read(0, 3), "one");
  EXPECT_EQ(file->read(8, 0), "");
  EXPECT_THROW(file->read(7, 2), InternalError);
  EXPECT_EQ(read_file(file->path()), "onethree");
  const MappedFile mapped = file->map();
  file.reset();
  EXPECT_EQ(mapped.text(), "onethree");
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

TEST(TemporaryFileTest, AFolderThatCannotBeUsedIsNamed) {
  for (const char* folder : {"/proc", "/no/such/folder"}) {
    const TemporaryFolder here(folder);
    try {
      const TemporaryFile file;
      ADD_FAILURE();
    } catch (const EnvironmentError& error) {
      EXPECT_NE(std::string(error.what()).find(folder), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace cloze::platform
