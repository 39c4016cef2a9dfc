// Configurations of `cloze glue` and `squad`: stored ones, ours, and those of another system.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/training/small_finetuning_test.h"
#include "formats/json.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

TEST_F(FinetuneCommands, StoredConfigurationsGiveTheRunsAgain) {
  const auto again = [&](const std::vector<std::string>& command, const std::string& folder) {
    const CommandResult first = run_command(command);
    ASSERT_EQ(first.status, ExitCode::kSuccess) << first.error;
    const fs::path newest = train::find_checkpoint(path(folder)).path;
    const CommandResult second =
        run_command({command.front(), "--config", newest / "training_config.json", "--save-path",
                     path("again")});
    ASSERT_EQ(second.status, ExitCode::kSuccess) << second.error;
    EXPECT_EQ(second.out, first.out);
    EXPECT_EQ(platform::read_file(folder_ / "again" / newest.filename() / "model.safetensors"),
              platform::read_file(newest / "model.safetensors"));
    fs::remove_all(path("again"));
  };
  again(glue() + std::vector<std::string>{"--epochs", "1"}, "rte");
  again(squad() + std::vector<std::string>{"--epochs", "2"}, "qa");
  // Starts from a model that computes differently from the defaults.
  make_start({"--hidden-act", "gelu_new"});
  again(glue_from_start(), "from-start");
}

// Such a file computes LayerNorm and GELU differently from the start model: so does the stored
// file.
TEST_F(FinetuneCommands, StoredConfigurationsOfGraphcoresFormGiveTheRunsAgain) {
  make_start({});
  write("graphcore.json", R"({"partials_type": "half", "hidden_act": "gelu", "precision": "32"})");
  const CommandResult first = run_command(glue_from_start() + graphcore_form());
  ASSERT_EQ(first.status, ExitCode::kSuccess) << first.error;
  EXPECT_NE(first.error.find("but this run uses 0.001"), std::string::npos) << first.error;
  const std::string stored = path("from-start/checkpoint-4/training_config.json");
  const CommandResult second =
      run_command({"glue", "--config", stored, "--save-path", path("again")});
  ASSERT_EQ(second.status, ExitCode::kSuccess) << second.error;
  EXPECT_EQ(weights("again/checkpoint-4"), weights("from-start/checkpoint-4"));
  // Without the file of origins beside it, it is a file like any other.
  write("alone.json", platform::read_file(stored));
  const CommandResult alone =
      run_command({"glue", "--config", path("alone.json"), "--save-path", path("alone")});
  EXPECT_EQ(alone.status, ExitCode::kUsage);
  EXPECT_NE(alone.error.find("hidden_act is gelu_new"), std::string::npos) << alone.error;
}

// The start model (with random weights, the vocabulary) is absent: the error must be about that.
TEST_F(FinetuneCommands, OurConfigurationsAreAccepted) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(CLOZE_SOURCE_DIR "/configs")) {
    const std::string name = entry.path().filename().string();
    const bool is_squad = name.find("squad") != std::string::npos;
    if (!is_squad && name.find("glue") == std::string::npos) continue;
    if (!platform::read_file(entry.path()).starts_with("//")) continue;
    ++count;
    std::vector<std::string> arguments = {is_squad ? "squad" : "glue", "--config", entry.path(),
                                          "--vocab-file", path("no_vocab.txt")};
    if (!is_squad) {
      arguments = arguments + std::vector<std::string>{"--data-dir", folder_, "--task-name", "RTE"};
    }
    const CommandResult result = run_command(arguments);
    const bool lacks_model = result.error.find("no model to start from") != std::string::npos;
    const bool lacks_words = result.error.find("no_vocab.txt") != std::string::npos;
    EXPECT_TRUE(lacks_model || lacks_words) << name << ": " << result.error;
    EXPECT_EQ(result.error.find("note:"), std::string::npos) << name << ": " << result.error;
  }
  EXPECT_EQ(count, 5);
}

// The sizes come from the configuration or from the start model; never silently from BERT-base.
TEST_F(FinetuneCommands, WithoutAStartModelTheShapeIsTheConfigurations) {
  const CommandResult large =
      run_command({"squad", "--config", CLOZE_SOURCE_DIR "/configs/squad_large.json",
                   "--vocab-file", path("vocab.txt"), "--compile-only", "true"});
  EXPECT_EQ(large.status, ExitCode::kSuccess) << large.error;
  EXPECT_NE(large.out.find("parameters 333.9 million"), std::string::npos) << large.out;

  const CommandResult none =
      run_command({"squad", "--vocab-file", path("vocab.txt"), "--compile-only", "true",
                   "--hidden-size", "32", "--num-hidden-layers", "1"});
  EXPECT_EQ(none.status, ExitCode::kUsage);
  EXPECT_EQ(none.error,
            "cloze: there is no model to start from; give --init-checkpoint, or for random weights "
            "--num-attention-heads, --intermediate-size\n");
}

// An original configuration of Graphcore's computes a checkpoint as that system did, and says so.
TEST_F(FinetuneCommands, AConfigurationOfGraphcoresComputesAsThatSystem) {
  write("graphcore.json",
        R"({"task": "SQuAD", "hidden_act": "gelu", "partials_type": "half", "precision": 32})");
  ASSERT_EQ(run_command(squad() + std::vector<std::string>{"--epochs", "1"}).status,
            ExitCode::kSuccess);
  const CommandResult run_there =
      run_command({"squad", "--config", path("graphcore.json"), "--train-file", path("squad.json"),
                   "--epochs", "1", "--micro-batch-size", "2", "--init-checkpoint", path("qa"),
                   "--seq-length", "32", "--threads", "1", "--save-path", path("there")});
  ASSERT_EQ(run_there.status, ExitCode::kSuccess) << run_there.error;
  EXPECT_NE(run_there.error.find("partials_type makes this a file of Graphcore's"),
            std::string::npos)
      << run_there.error;
  EXPECT_NE(run_there.error.find("was computed with hidden_act gelu, but this run uses gelu_new"),
            std::string::npos)
      << run_there.error;
  const auto options = formats::parse_json(
      platform::read_file(fs::path(path("there")) / "checkpoint-1" / "training_config.json"));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->at("use_debiasing"), false);
  EXPECT_EQ(options->at("use_qkv_bias"), false);
  EXPECT_EQ(options->at("epsilon"), 1e-4);
}

}  // namespace
}  // namespace cloze::cli
