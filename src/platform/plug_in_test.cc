#include "platform/plug_in.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "platform/child.h"
#include "platform/files/atomic_file.h"

namespace cloze::platform {
namespace {

// A plug-in that no build makes, in the folder of this test's program.
class PlugInTest : public testing::Test {
 protected:
  static constexpr PlugIn kPlugIn{.file = "cloze_nothing.so",
                                  .serves = "nothing",
                                  .package = "cloze-nothing",
                                  .needs = "libnothing-dev",
                                  .symbol = "cloze_nothing"};

  PlugInTest() { std::filesystem::remove(beside_); }
  ~PlugInTest() override { std::filesystem::remove(beside_); }

  const std::filesystem::path folder_ = std::filesystem::path(path_of_this_program()).parent_path();
  const std::filesystem::path beside_ = folder_ / "lib/cloze/plug_ins" / kPlugIn.file;
};

TEST_F(PlugInTest, OneThatIsMissingIsNamedWithWhatInstallsIt) {
  const Result<void*> found = find_in_plug_in(kPlugIn);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "this program's part for nothing, " +
                (folder_.parent_path() / "lib/cloze/plug_ins/cloze_nothing.so").string() +
                ", is not there; install the package cloze-nothing, or install libnothing-dev and "
                "build the program again");
}

TEST_F(PlugInTest, OneThatCannotBeOpenedSaysWhy) {
  std::filesystem::create_directories(beside_.parent_path());
  write_file_atomically(beside_, "no library");
  const Result<void*> found = find_in_plug_in(kPlugIn);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "this program's part for nothing cannot be used: " + beside_.string() +
                ": file too short; install the package cloze-nothing, which brings what it needs");
}

}  // namespace
}  // namespace cloze::platform
