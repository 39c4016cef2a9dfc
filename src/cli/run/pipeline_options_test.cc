#include "cli/run/pipeline_options.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::cli {
namespace {

constexpr const char* kThree = R"([["emb", "pos"], ["hid", "hid"], ["hid", "mlm", "nsp"]])";

std::string refusal(const std::string& stages, const std::string& mapping = "") {
  try {
    pipeline_stages(stages, mapping, 3);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(PipelineOptions, ShareLayersOut) {
  EXPECT_EQ(pipeline_stages("2", "", 3).layers, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(pipeline_stages("1", "", 3).num_ranks(), 1);
}

TEST(PipelineOptions, TakeListsOfParts) {
  const passes::Stages stages = pipeline_stages(kThree, "", 3);
  EXPECT_EQ(stages.layers, (std::vector<int64_t>{0, 2, 1}));
  EXPECT_EQ(stages.ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(
      pipeline_stages(R"([["emb", "hid"], ["hid", "hid", "enc_out"], ["pool", "heads"]])", "", 3)
          .layers,
      (std::vector<int64_t>{1, 2, 0}));
}

TEST(PipelineOptions, PutStagesOfOneDeviceOnOneRank) {
  const passes::Stages stages = pipeline_stages(kThree, "[0, 1, 0]", 3);
  EXPECT_EQ(stages.ranks, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(stages.num_ranks(), 2);
}

TEST(PipelineOptions, SayWhatDoesNotFit) {
  EXPECT_EQ(refusal("6"),
            "pipeline_stages is 6, but 3 layers, embeddings and heads make at most 5 stages");
  EXPECT_EQ(refusal("0").substr(0, 21), "pipeline_stages is 0,");
  EXPECT_EQ(refusal("two").substr(0, 41), "pipeline_stages is two; give a number, or");
  EXPECT_EQ(refusal(R"([["emb", "hid"], ["hid", "mlm"]])"),
            "pipeline_stages has 2 \"hid\", but the model has 3 layers; give one for each layer");
  EXPECT_EQ(refusal(R"([["emb", "hid"], ["pos"], ["hid", "hid", "mlm"]])").substr(0, 26),
            "stage 1 of pipeline_stages");
  EXPECT_EQ(refusal(R"([["hid", "hid"], ["emb", "hid", "mlm"]])").substr(0, 26),
            "stage 0 of pipeline_stages");
  EXPECT_EQ(refusal("2", "[0, 1, 0]").substr(0, 60),
            "device_mapping is [0, 1, 0], but there are 2 pipeline_stages");
  EXPECT_EQ(refusal(kThree, "[0, 2, 0]"),
            "device_mapping is [0, 2, 0], which leaves device 1 out; number them from 0");
  EXPECT_EQ(refusal(kThree, "[-1, 0, 0]").substr(0, 29), "device_mapping is [-1, 0, 0],");
}

}  // namespace
}  // namespace cloze::cli
