#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/run_command_test.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

TEST(Convert, TakesTheOptionsOfTheOriginal) {
  const fs::path output = fs::path(testing::TempDir()) / "cloze_convert_test";
  fs::remove_all(output);
  const CommandResult result = run_command(
      {"convert", "google2graphcore",
       std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/tf_checkpoint/google/bert_model.ckpt",
       "--output_dir", output.string(), "--vocab_size=20", "--num_embeddings_splits", "2",
       "--use_qkv_bias", "True", "--use_cls_layer", "False", "--precision", "32"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_NE(result.out.find("wrote " + (output / "bert_model.ckpt.index").string()),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("left out, as asked: cls.predictions.transform"), std::string::npos);
  fs::remove_all(output);
}

// The same model in three forms fills blanks alike: read directly from each, without an explicit
// conversion.
TEST(Convert, EveryFormIsAModel) {
  const std::string fixtures = std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/tf_checkpoint";
  const fs::path folder = fs::path(testing::TempDir()) / "cloze_convert_test";
  fs::remove_all(folder);
  EXPECT_EQ(
      run_command({"convert", "google2hf", fixtures + "/google", "--output-dir", folder.string()})
          .status,
      ExitCode::kSuccess);
  const auto fill = [](const std::string& model) {
    const CommandResult result = run_command(
        {"fill", "--init-checkpoint", model, "--text", "ab [MASK] c", "--threads", "1"});
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
    EXPECT_NE(result.error.find("note: 4 tensors of "), std::string::npos) << result.error;
    return result.out;
  };
  const std::string google = fill(fixtures + "/google/bert_model.ckpt");
  EXPECT_NE(google.find(" %  "), std::string::npos);
  EXPECT_EQ(fill(folder.string()), google);
  EXPECT_EQ(fill(fixtures + "/graphcore"), google);
  fs::remove_all(folder);
}

TEST(Convert, TakesTheFlagOfTheOriginalThatSaysBert) {
  const fs::path output = fs::path(testing::TempDir()) / "cloze_convert_test";
  fs::remove_all(output);
  const CommandResult result =
      run_command({"convert", "apps2google",
                   std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/tf_checkpoint/graphcore",
                   "--baseline", "--output-dir", output.string()});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_NE(result.out.find("baseline is not needed: "), std::string::npos) << result.out;
  fs::remove_all(output);
}

TEST(Convert, SaysWhatItCannotDo) {
  EXPECT_EQ(run_command({"convert", "hf2hf", "/no/such/model"}).status, ExitCode::kUsage);
  const CommandResult size =
      run_command({"convert", "hf2hf", "/no/such/model", "--max-shard-size", "much"});
  EXPECT_EQ(size.out, "");
  EXPECT_EQ(size.error,
            "cloze: \"much\" is not the size of a shard; give one such as 500MB or 5GB\n");
  const std::string path(300, 'x');
  const CommandResult refused = run_command({"convert", "hf2hf", path});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_EQ(refused.error, "cloze: cannot open " + path +
                               ": File name too long; check the path and who may use it\n");
  const CommandResult google =
      run_command({"convert", "hf2google", "/no/such/model", "--max-shard-size", "1GB"});
  EXPECT_EQ(google.error,
            "cloze: --max-shard-size is for Hugging Face's files; leave it out, or choose hf2hf\n");
  EXPECT_EQ(run_command({"convert", "hf2google", "/no/such/model", "--pooling", "mean"}).error,
            "cloze: --pooling is for Hugging Face's files; leave it out, or choose hf2hf\n");
}

}  // namespace
}  // namespace cloze::cli
