#include "train/metrics/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "formats/json.h"
#include "platform/files/file.h"
#include "platform/files/input_paths.h"

namespace cloze::train {
namespace {

std::vector<formats::Json> lines_of(const std::string& path) {
  const std::string text = platform::read_file(path);
  EXPECT_TRUE(text.empty() || text.back() == '\n');
  std::vector<formats::Json> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(*formats::parse_json(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

void write_steps(const std::string& path, int64_t steps_done, int64_t last) {
  MetricsLog log(path, steps_done);
  for (int64_t step = steps_done + 1; step <= last; ++step) {
    log.write({.step = step, .loss = 10.0 / static_cast<double>(step)});
  }
}

class MetricsLogTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "metrics_test.jsonl";
};

TEST_F(MetricsLogTest, StartsWithItsSchema) {
  write_steps(path_, 0, 2);
  const auto lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].at("schema"), "cloze.metrics");
  EXPECT_EQ(lines[0].at("version"), 1);
  EXPECT_EQ(lines[2].at("step"), 2);
  EXPECT_EQ(lines[2].at("loss"), 5.0);
}

TEST_F(MetricsLogTest, AResumedRunCutsTheStepsItRepeats) {
  write_steps(path_, 0, 5);
  write_steps(path_, 3, 4);
  const auto lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[3].at("step"), 3);
  EXPECT_EQ(lines[4].at("step"), 4);
}

TEST_F(MetricsLogTest, AnEvaluationGoesWithItsStep) {
  {
    MetricsLog log(path_, 0);
    for (int64_t step = 1; step <= 2; ++step) {
      log.write({.step = step});
      log.write_evaluation({.step = step,
                            .samples = 8 * step,
                            .score = 0.5,
                            .losses = {{"mlm", 6.5, 0.5}},
                            .seconds = 0.25});
    }
  }
  EXPECT_EQ(lines_of(path_).size(), 5u);
  write_steps(path_, 1, 2);
  const auto lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2], formats::Json::parse(
                          R"({"evaluated_step": 1, "epoch": 0.0, "samples": 8, "score": 0.5,
                              "mlm_loss": 6.5, "mlm_accuracy": 0.5, "seconds": 0.25})"));
  EXPECT_EQ(lines[3].at("step"), 2);
}

TEST_F(MetricsLogTest, AHalfWrittenLineIsCut) {
  write_steps(path_, 0, 2);
  platform::AppendFile(path_).append("{\"step\": 3, \"lo");
  write_steps(path_, 5, 6);
  const auto lines = lines_of(path_);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[3].at("step"), 6);
}

TEST_F(MetricsLogTest, ANewRunStartsOver) {
  write_steps(path_, 0, 5);
  write_steps(path_, 0, 1);
  EXPECT_EQ(lines_of(path_).size(), 2u);
}

TEST_F(MetricsLogTest, LossesHaveNames) {
  MetricsLog(path_, 0).write(
      {.step = 1, .losses = {{"mlm", 6.5, 0.125}, {"score", 0.75, std::nullopt}}});
  const auto line = lines_of(path_)[1];
  EXPECT_EQ(line.at("mlm_loss"), 6.5);
  EXPECT_EQ(line.at("mlm_accuracy"), 0.125);
  EXPECT_EQ(line.at("score_loss"), 0.75);
  EXPECT_FALSE(line.contains("score_accuracy"));
}

TEST_F(MetricsLogTest, HasTheLossScaleAndWhatItCost) {
  MetricsLog(path_, 0).write({.step = 1, .loss_scale = 1024, .skipped_steps = 3});
  const auto line = lines_of(path_)[1];
  EXPECT_EQ(line.at("loss_scale"), 1024);
  EXPECT_EQ(line.at("skipped_steps"), 3);
}

TEST_F(MetricsLogTest, HasNormsAndTheCeilingWhenTheyAreKnown) {
  MetricsLog log(path_, 0);
  log.write({.step = 1});
  log.write({.step = 2,
             .flops = 3e12,
             .ceiling_share = 0.5,
             .norms = {{.name = "pooler.weight", .weight = 2.0, .gradient = 0.25}}});
  const auto lines = lines_of(path_);
  for (const char* key : {"ceiling_share", "weight_norms", "gradient_norms"}) {
    EXPECT_FALSE(lines[1].contains(key)) << key;
  }
  EXPECT_EQ(lines[2].at("flops"), 3e12);
  EXPECT_EQ(lines[2].at("ceiling_share"), 0.5);
  EXPECT_EQ(lines[2].at("weight_norms").at("pooler.weight"), 2.0);
  EXPECT_EQ(lines[2].at("gradient_norms").at("pooler.weight"), 0.25);
}

TEST_F(MetricsLogTest, ForgetsWhatTheRunWentBackFrom) {
  MetricsLog log(path_, 0);
  for (const int64_t back_to : {2, 0}) {
    for (int64_t step = 1; step <= 4; ++step) log.write({.step = step});
    log.forget_after(back_to);
    EXPECT_EQ(std::ssize(lines_of(path_)), 1 + back_to);
    log.write({.step = back_to + 1});
    EXPECT_EQ(lines_of(path_).front().at("schema"), "cloze.metrics");
    EXPECT_EQ(lines_of(path_).back().at("step"), back_to + 1);
  }
}

TEST_F(MetricsLogTest, NumbersThatAreNotFiniteAreNull) {
  MetricsLog(path_, 0).write({.step = 1, .loss = std::numeric_limits<double>::quiet_NaN()});
  EXPECT_TRUE(lines_of(path_)[1].at("loss").is_null());
}

TEST(TensorBoardMetrics, WritesAFileWithTheKnownTags) {
  const std::filesystem::path folder = testing::TempDir() + "metrics_test_events";
  std::filesystem::remove_all(folder);
  TensorBoardMetrics(folder, 0).write({.step = 1,
                                       .losses = {{"mlm", 6.5, 0.125}, {"nsp", 0.75, 0.5}},
                                       .ceiling_share = 0.5,
                                       .norms = {{.name = "pooler.weight"}}});
  const auto files = platform::expand_paths(folder.string());
  ASSERT_EQ(files.size(), 1u);
  const std::string text = platform::read_file(files[0]);
  for (const char* tag :
       {"train/loss", "loss/MLM", "loss/NSP", "accuracy/MLM", "accuracy/NSP", "learning_rate",
        "loss_scaling", "samples_per_sec", "epoch", "train/skipped_steps", "train/tokens_per_sec",
        "train/data_wait_share", "train/ceiling_share", "weight_norm/pooler.weight",
        "gradient_norm/pooler.weight"}) {
    EXPECT_NE(text.find(tag), std::string::npos) << tag;
  }
  std::filesystem::remove_all(folder);
}

TEST(Metrics, TheHiddenShareIsOneOfAll) {
  EXPECT_EQ((CommunicationTime{.seconds = 4.0, .waited = 1.0}.hidden_share()), 0.75);
  EXPECT_EQ((CommunicationTime{.seconds = 4.0, .waited = 5.0}.hidden_share()), 0.0);
  EXPECT_EQ(CommunicationTime{}.hidden_share(), 1.0);
}

}  // namespace
}  // namespace cloze::train
