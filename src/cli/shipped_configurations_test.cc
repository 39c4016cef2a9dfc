// Our own configurations in configs/: bert_* pre-train the published sizes of BERT, finetune_*
// fine-tune any of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

std::string configuration(const std::string& name) {
  return std::string(CLOZE_SOURCE_DIR) + "/configs/" + name + ".json";
}

// Google's sizes (github.com/google-research/bert, "smaller BERT models"), with both heads of
// pre-training and a vocabulary of 30,522 pieces.
struct Size {
  const char* name;
  const char* parameters;
};

class BertSizes : public testing::TestWithParam<Size> {};

TEST_P(BertSizes, PlansWithTheParametersOfThePublishedModel) {
  const std::string name = std::string("bert_") + GetParam().name;
  const CommandResult result = run_command({"plan", "--config", configuration(name)});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_EQ(result.error, "");
  const std::string expected = std::string("\nparameters ") + GetParam().parameters + " million\n";
  EXPECT_NE(result.out.find(expected), std::string::npos) << result.out;
}

INSTANTIATE_TEST_SUITE_P(ShippedConfigurations, BertSizes,
                         testing::Values(Size{"tiny", "4.4"}, Size{"mini", "11.3"},
                                         Size{"small", "29.1"}, Size{"medium", "41.7"},
                                         Size{"base", "110.1"}, Size{"large", "336.2"}),
                         [](const auto& info) { return std::string(info.param.name); });

// transformers has no BERT without the MLM transform, and takes these checkpoints as they are.
TEST(ShippedConfigurations, OursKeepWhatTransformersHasAndCorrectTheMoments) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(CLOZE_SOURCE_DIR "/configs")) {
    const std::string name = entry.path().stem().string();
    if (!name.starts_with("bert_") && !name.starts_with("finetune_")) continue;
    ++count;
    const auto config = formats::read_json_file(entry.path().string());
    EXPECT_EQ(config.value("use_debiasing", false), true) << name;
    for (const char* left_out : {"use_cls_layer", "use_qkv_bias", "use_attention_projection_bias",
                                 "use_prediction_bias", "static_mask"}) {
      EXPECT_FALSE(config.contains(left_out)) << name << " " << left_out;
    }
  }
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace cloze::cli
