#include "cli/plan/scale_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::cli {
namespace {

constexpr const char* kDevice = CLOZE_SOURCE_DIR "/configs/devices/nvidia_h100_sxm_80gb.json";
constexpr const char* kNetwork = CLOZE_SOURCE_DIR "/configs/networks/nvidia_dgx_h100.json";

PretrainOptions small_options(int64_t replicas) {
  PretrainOptions options;
  options.model().vocab_size = 120;
  options.model().hidden_size = 16;
  options.model().num_hidden_layers = 4;
  options.model().num_attention_heads = 2;
  options.model().intermediate_size = 24;
  options.model().max_position_embeddings = 32;
  options.seq_length = 32;
  options.drawing.pairs.masking.max_predictions = 4;
  options.global_batch_size = 256;
  options.tokens_per_micro_batch = 128;
  options.replicas = replicas;
  options.training.step.compile.device = "null";
  return options;
}

std::string described(int64_t replicas, const std::string& stages, ScaleRequest request) {
  request.network_file = kNetwork;
  PretrainOptions options = small_options(replicas);
  options.pipeline_stages = stages;
  return describe_scale(PretrainRun(options), request, forecast::read_device_file(kDevice),
                        forecast::MemoryForecast());
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST(ScalePlan, SaysWhatEachStageKeepsAndSends) {
  const std::string text = described(8, "2", {.simulate = 1.0});
  expect_part(text, "ranks 16: 8 replicas of 2 stages, 8 micro-batches each, on 2 hosts of NVIDIA");
  expect_part(text, "stage 0: 2 layers, a micro-batch forward ");
  expect_part(text, "activations 0.4 (2 x 0.2)");
  expect_part(text, "per rank, memory: about ");
  expect_part(text, "% of the pipeline), sums of gradients ");
  expect_part(text, "the formula says ");
}

TEST(ScalePlan, ATableDoublesTheReplicas) {
  const std::string text = described(1, "2", {.scaling = 9});
  expect_part(text, "\n| 2 | 1 | 2 | 256 | ");
  expect_part(text, "\n| 8 | 4 | 2 | 256 | ");
  EXPECT_EQ(text.find("\n| 16 |"), std::string::npos);
}

TEST(ScalePlan, RowsThatDoNotFitHostsAreLeftOut) {
  const std::string text = described(1, "3", {.scaling = 24});
  expect_part(text, "\n| 3 | 1 | 3 | 256 | ");
  expect_part(text, "\n| 6 | 2 | 3 | 256 | ");
  EXPECT_EQ(text.find("\n| 12 |"), std::string::npos);
  expect_part(text, "\nleft out, 12 ranks: NVIDIA");
  expect_part(text, "8 ranks per host, which does not divide the plan's 12 ranks");
  expect_part(text, "\nleft out, 24 ranks: NVIDIA");
  expect_part(text, "8 ranks per host, and pipeline_stages is 3");
}

TEST(ScalePlan, UnevenMicroBatchesAreSaid) {
  expect_part(described(3, "1", {}),
              "64 micro-batches of a step do not divide evenly among 3 replicas");
}

TEST(ScalePlan, StagesAreInTheOrderOfTheirRanks) {
  PretrainOptions options = small_options(1);
  options.pipeline_stages = "2";
  const auto describe = [&](const std::string& device_mapping) {
    options.device_mapping = device_mapping;
    return describe_scale(PretrainRun(options), {.network_file = kNetwork},
                          forecast::read_device_file(kDevice), forecast::MemoryForecast());
  };
  expect_part(describe("[0, 1]"), "ranks 2: 1 replicas of 2 stages");
  EXPECT_THROW(describe("[1, 0]"), UserError);
  EXPECT_THROW(describe("[0, 0]"), UserError);
}

TEST(ScalePlan, WithoutANetworkTablesAreRefused) {
  EXPECT_NO_THROW(require_network({}));
  EXPECT_THROW(require_network({.scaling = 8}), UserError);
  EXPECT_THROW(require_network({.simulate = 1.0}), UserError);
  EXPECT_NO_THROW(require_network({.network_file = "n", .scaling = 8}));
}

}  // namespace
}  // namespace cloze::cli
