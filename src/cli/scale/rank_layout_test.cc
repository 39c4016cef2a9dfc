#include "cli/scale/rank_layout.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::cli {
namespace {

// "F0 F1 B0 B1"
std::string text_of(const RankLayout& layout, int64_t stage) {
  std::string text;
  for (const StageTask& task : layout.tasks(stage)) {
    text += (text.empty() ? "" : " ") + std::string(task.is_backward ? "B" : "F") +
            std::to_string(task.micro_batch);
  }
  return text;
}

std::string refusal(const std::string& stages, int64_t layers) {
  try {
    layers_of_stages(stages, layers);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RankLayout, TasksFollowTheSchedule) {
  RankLayout layout{.stages = 2, .micro_batches = 3, .schedule = PipelineSchedule::kGrouped};
  EXPECT_EQ(text_of(layout, 0), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text_of(layout, 1), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(layout.in_flight(0), 3);
  EXPECT_EQ(layout.in_flight(1), 1);
  layout.schedule = PipelineSchedule::kInterleaved;
  EXPECT_EQ(text_of(layout, 0), "F0 F1 B0 F2 B1 B2");
  EXPECT_EQ(text_of(layout, 1), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(layout.in_flight(0), 2);
  EXPECT_EQ(layout.in_flight(1), 1);
  layout.schedule = PipelineSchedule::kSequential;
  EXPECT_EQ(text_of(layout, 0), "F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(layout.in_flight(0), 1);
}

TEST(RankLayout, StagesAreANumberOrGraphcoresLists) {
  EXPECT_EQ(layers_of_stages("1", 5), (std::vector<int64_t>{5}));
  EXPECT_EQ(layers_of_stages("3", 12), (std::vector<int64_t>{4, 4, 4}));
  EXPECT_EQ(layers_of_stages(R"([["emb","pos"],["hid","hid"],["hid","mlm","nsp"]])", 3),
            (std::vector<int64_t>{0, 2, 1}));
}

TEST(RankLayout, StagesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal("8", 4),
            "pipeline_stages is 8, and the model has 4 layers; choose from 1 to 4");
  EXPECT_EQ(refusal("0", 4),
            "pipeline_stages is 0, and the model has 4 layers; choose from 1 to 4");
  EXPECT_EQ(refusal(R"([["emb","hid"],["hid","mlm"]])", 4),
            "pipeline_stages has 2 \"hid\", and the model has 4 layers; one is a layer");
  for (const char* text : {"", "two", "4x", "[]", "[1, 2]", "{}"}) {
    EXPECT_NE(refusal(text, 4).find("give a number, or lists"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace cloze::cli
