#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "cli/exit_code.h"
#include "cli/program.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  ExitCode code;
  std::string text;  // both streams
};

Outcome run(std::vector<std::string> arguments) {
  std::vector<const char*> pointers = {"cloze"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_program(static_cast<int>(pointers.size()), pointers.data());
  std::fflush(stdout);
  return {static_cast<ExitCode>(code),
          testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr()};
}

TEST(Convert, TakesTheOptionsOfTheOriginal) {
  const fs::path output = fs::temp_directory_path() / "cloze_convert_test";
  fs::remove_all(output);
  const Outcome outcome =
      run({"convert", "google2graphcore",
           std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/tf_checkpoint/google/bert_model.ckpt",
           "--output_dir", output.string(), "--vocab_size=20", "--num_embeddings_splits", "2",
           "--use_qkv_bias", "True", "--use_cls_layer", "False", "--precision", "32"});
  EXPECT_EQ(outcome.code, ExitCode::kSuccess) << outcome.text;
  EXPECT_NE(outcome.text.find("wrote " + (output / "bert_model.ckpt.index").string()),
            std::string::npos)
      << outcome.text;
  EXPECT_NE(outcome.text.find("left out, as asked: cls.predictions.transform"), std::string::npos);
  fs::remove_all(output);
}

// The same model in three forms fills blanks alike: straight from each, no conversion asked for.
TEST(Convert, EveryFormIsAModel) {
  const std::string fixtures = std::string(CLOZE_SOURCE_DIR) + "/tests/fixtures/tf_checkpoint";
  const fs::path folder = fs::temp_directory_path() / "cloze_convert_test";
  fs::remove_all(folder);
  EXPECT_EQ(
      run({"convert", "google2hf", fixtures + "/google", "--output-dir", folder.string()}).code,
      ExitCode::kSuccess);
  const auto fill = [](const std::string& model) {
    Outcome outcome =
        run({"fill", "--init-checkpoint", model, "--text", "ab [MASK] c", "--threads", "1"});
    const size_t note = outcome.text.find("note: 4 tensors of ");  // of other heads, with the path
    EXPECT_NE(note, std::string::npos) << outcome.text;
    outcome.text.resize(std::min(note, outcome.text.size()));
    // Of its memory it says more or less, as the process has more or less loaded.
    outcome.text.erase(outcome.text.find("memory: "));
    return outcome;
  };
  const Outcome google = fill(fixtures + "/google/bert_model.ckpt");
  EXPECT_EQ(google.code, ExitCode::kSuccess) << google.text;
  EXPECT_NE(google.text.find(" %  "), std::string::npos);
  EXPECT_EQ(fill(folder.string()).text, google.text);
  EXPECT_EQ(fill(fixtures + "/graphcore").text, google.text);
  fs::remove_all(folder);
}

TEST(Convert, SaysWhatItCannotDo) {
  EXPECT_EQ(run({"convert", "hf2hf", "/no/such/model"}).code, ExitCode::kUsage);
  EXPECT_EQ(run({"convert", "hf2hf", "/no/such/model", "--max-shard-size", "much"}).text,
            "cloze: \"much\" is not the size of a shard; give one such as 500MB or 5GB\n");
}

}  // namespace
}  // namespace cloze::cli
