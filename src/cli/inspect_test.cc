#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run_command_test.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

std::string listing_of(const std::string& path) {
  const CommandResult result = run_command({"inspect", path});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << path << ": " << result.error;
  return result.out;
}

TEST(Inspect, ListsEveryForm) {
  const std::string fixtures = std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/";
  EXPECT_NE(listing_of(fixtures + "torch/zip.bin").find("bert.half  f16 [3]\n"), std::string::npos);
  const std::string google = listing_of(fixtures + "tf_checkpoint/google");
  EXPECT_NE(google.find("\nglobal_step  i64 []\n"), std::string::npos);
  EXPECT_NE(google.find("/google/bert_model.ckpt: 143 tensors, "), std::string::npos);
}

TEST(Inspect, AnIndexAloneIsEnough) {
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_inspect_test";
  fs::create_directories(folder);
  fs::copy_file(
      std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/tf_checkpoint/google/bert_model.ckpt.index",
      folder / "m.index", fs::copy_options::overwrite_existing);
  const std::string listing = listing_of((folder / "m").string());
  EXPECT_NE(listing.find("bert/pooler/dense/kernel  f32 [4, 4]\n"), std::string::npos);
  EXPECT_TRUE(listing.ends_with("m.data-00000-of-00001 is missing\n")) << listing;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace cloze::cli
