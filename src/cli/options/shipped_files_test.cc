#include "cli/options/shipped_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "cli/run_command_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// In a folder of its own: the tests run in the source tree, where configs/ is.
class ShippedFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  std::string refusal(const std::string& path) const {
    try {
      return find_shipped(path).string();
    } catch (const UserError& error) {
      return error.what();
    }
  }

  const fs::path before_ = fs::current_path();
  const fs::path folder_ = fs::path(testing::TempDir()) / "shipped_files_test";
  const fs::path shipped_ = fs::path(CLOZE_SOURCE_DIR) / "configs";
};

TEST_F(ShippedFiles, AreFoundUnderTheirNames) {
  const fs::path tiny = shipped_ / "bert_tiny.json";
  for (const char* name : {"bert_tiny", "bert_tiny.json", "configs/bert_tiny.json",
                           "configs/bert_tiny", "./bert_tiny.json"}) {
    EXPECT_TRUE(fs::equivalent(find_shipped(name), tiny)) << name;
  }
  EXPECT_EQ(find_shipped("configs/devices/intel_xeon_8480.json").filename(),
            "intel_xeon_8480.json");
  EXPECT_EQ(find_each_shipped("optimum/bert_large_ipu.json,configs/optimum/squad_arguments.json"),
            (shipped_ / "optimum/bert_large_ipu.json").string() + "," +
                (shipped_ / "optimum/squad_arguments.json").string());
}

TEST_F(ShippedFiles, AFileHereComesFirst) {
  platform::write_file_atomically("bert_tiny", "{}");
  EXPECT_EQ(find_shipped("bert_tiny"), "bert_tiny");
  fs::remove("bert_tiny");
  fs::create_directory("bert_tiny");  // where a run was saved
  EXPECT_TRUE(fs::equivalent(find_shipped("bert_tiny"), shipped_ / "bert_tiny.json"));
  platform::write_file_atomically("bert_tiny/config.json", "{}");
  EXPECT_EQ(find_shipped("bert_tiny"), "bert_tiny/config.json");
}

TEST_F(ShippedFiles, ANameThatIsNowhereIsRefused) {
  EXPECT_EQ(refusal("bert_tini.json"), "bert_tini.json does not exist, nor does " +
                                           shipped_folder()->string() +
                                           " have it; did you mean bert_tiny?");
  EXPECT_EQ(refusal("/none/bert_tiny.json"), "/none/bert_tiny.json does not exist");
  fs::create_directory("run");
  EXPECT_EQ(refusal("run"), "run is a folder without config.json; name a file");
}

TEST_F(ShippedFiles, ServeEveryCommandThatTakesOne) {
  const CommandResult plan =
      run_command({"plan", "--config", "bert_tiny", "--device-file",
                   "configs/devices/nvidia_h100_sxm_80gb.json", "--network-file",
                   "networks/nvidia_dgx_h100", "--replicas", "2"});
  EXPECT_EQ(plan.status, ExitCode::kSuccess) << plan.error;
  EXPECT_EQ(run_command({"benchmark", "--list"}).status, ExitCode::kSuccess);
}

// transformers' own, as google/bert_uncased_L-2_H-128_A-2 has it.
TEST_F(ShippedFiles, AModelsConfigurationIsItsShape) {
  platform::write_file_atomically(
      "config.json",
      R"({"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 128,
          "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 512,
          "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2,
          "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0, "use_cache": true,
          "position_embedding_type": "absolute", "transformers_version": "4.57.0"})");
  const CommandResult plan = run_command({"plan", "--config", "config.json"});
  EXPECT_EQ(plan.status, ExitCode::kSuccess) << plan.error;
  EXPECT_EQ(plan.error,
            "note: config.json is a model's configuration: only the model's shape is taken from "
            "it\n");
  EXPECT_NE(plan.out.find("\nparameters 4.4 million\n"), std::string::npos) << plan.out;
  const CommandResult folder = run_command({"plan", "--config", "."});
  EXPECT_NE(folder.out.find("\nparameters 4.4 million\n"), std::string::npos) << folder.error;
  const CommandResult wider =
      run_command({"plan", "--config", "config.json", "--num-hidden-layers", "3"});
  EXPECT_NE(wider.out.find("\nparameters 4.6 million\n"), std::string::npos) << wider.out;
}

TEST_F(ShippedFiles, AnotherModelsConfigurationIsRefused) {
  platform::write_file_atomically("config.json", R"({"model_type": "roberta"})");
  const CommandResult plan = run_command({"plan", "--config", "config.json"});
  EXPECT_EQ(plan.status, ExitCode::kUsage);
  EXPECT_EQ(plan.error,
            "cloze: config.json: model_type is \"roberta\"; supported are \"bert\" and "
            "\"groupbert\"\n");
}

}  // namespace
}  // namespace cloze::cli
