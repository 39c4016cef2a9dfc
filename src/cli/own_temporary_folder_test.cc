// A folder of its own for the temporary files of each process that runs these tests, so that several
// may run at once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace cloze::cli {
namespace {

class OwnTemporaryFolder : public testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("cloze_cli_test_" + std::to_string(std::random_device()()));
    std::filesystem::create_directories(folder_);
    setenv("TEST_TMPDIR", folder_.c_str(), 1);  // testing::TempDir() from here on
  }
  // Not a destructor: the processes of death tests have the object too.
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

const auto* const own_folder = static_cast<OwnTemporaryFolder*>(
    testing::AddGlobalTestEnvironment(new OwnTemporaryFolder));  // googletest owns it

TEST(OwnTemporaryFolder, IsThatOfTheTests) {
  EXPECT_EQ(std::filesystem::path(testing::TempDir()) / "", own_folder->path() / "");
}

}  // namespace
}  // namespace cloze::cli
