#include "train/mllog.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "formats/json.h"
#include "train/training.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

class MllogTest : public testing::Test {
 protected:
  ~MllogTest() override { fs::remove(path_); }

  static nlohmann::ordered_json facts(const std::string& optimizer = "lamb") {
    TrainingOptions options;
    options.global_batch_size = 448;
    options.num_steps = 2;
    options.step.optimizer.name = optimizer;
    options.schedule.base_learning_rate = 0.002;
    return mllog_facts(options, 512);
  }

  std::vector<nlohmann::json> lines() const {
    const std::string text = platform::read_file(path_);
    std::vector<nlohmann::json> lines;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_EQ(text.substr(at, 9), ":::MLLOG ");
      lines.push_back(*formats::parse_json(text.substr(at + 9, end - at - 9)));
      at = end + 1;
    }
    return lines;
  }

  const fs::path path_ = fs::path(testing::TempDir()) / "mllog_test.log";
};

// What MLPerf's own parser and its rules for BERT ask of the lines that are ours to write.
TEST_F(MllogTest, HasEveryKeyInMlperfsOrder) {
  const auto start = MllogMetrics::Clock::now() - std::chrono::seconds(5);
  {
    MllogMetrics log(path_, facts(), 0, start);
    log.write({.step = 1, .samples = 448, .loss = 7.5, .losses = {{.name = "mlm", .loss = 7.0}}});
    log.write({.step = 2, .samples = 896, .loss = 7.0, .sequences_per_second = 99.0});
    log.finish();
  }
  std::map<std::string, int64_t> count;
  std::vector<std::string> intervals;
  double last_ms = 0.0;
  for (const nlohmann::json& line : lines()) {
    EXPECT_EQ(line.size(), 6u);
    EXPECT_EQ(line.at("namespace"), "");
    EXPECT_TRUE(line.at("metadata").at("file").is_string());
    EXPECT_TRUE(line.at("metadata").at("lineno").is_number_integer());
    EXPECT_TRUE(line.contains("value"));
    EXPECT_GE(line.at("time_ms").get<double>(), last_ms);
    last_ms = line.at("time_ms").get<double>();
    const auto key = line.at("key").get<std::string>();
    ++count[key];
    if (line.at("event_type") == "POINT_IN_TIME") continue;
    intervals.push_back(key);
    EXPECT_EQ(line.at("event_type"), key.ends_with("_start") ? "INTERVAL_START" : "INTERVAL_END");
  }
  EXPECT_EQ(intervals, (std::vector<std::string>{"init_start", "init_stop", "run_start",
                                                 "block_start", "block_stop", "run_stop"}));
  for (const char* key :
       {"global_batch_size", "opt_base_learning_rate", "opt_lamb_epsilon",
        "opt_learning_rate_training_steps", "opt_learning_rate_warmup_steps", "num_warmup_steps",
        "start_warmup_step", "opt_lamb_beta_1", "opt_lamb_beta_2", "opt_lamb_weight_decay_rate",
        "seed", "max_sequence_length", "submission_benchmark", "train_samples"}) {
    EXPECT_EQ(count[key], 1) << key;
  }
  const auto all = lines();
  EXPECT_EQ(all.front().at("key"), "init_start");
  EXPECT_EQ(
      all.front().at("time_ms"),
      std::chrono::duration_cast<std::chrono::milliseconds>(start.time_since_epoch()).count());
  EXPECT_EQ(all.back().at("metadata").at("status"), "success");
  const nlohmann::json& step = all[all.size() - 5];
  EXPECT_EQ(step.at("key"), "tracked_stats");
  EXPECT_EQ(step.at("value").at("mlm_loss"), 7.0);
  EXPECT_EQ(step.at("metadata").at("samples_count"), 448);
}

TEST_F(MllogTest, ARunThatDoesNotComeToItsEndIsAborted) {
  { MllogMetrics(path_, facts(), 0, {}).write({.step = 1, .samples = 448}); }
  EXPECT_EQ(lines().back().at("key"), "run_stop");
  EXPECT_EQ(lines().back().at("metadata").at("status"), "aborted");
  const size_t before = lines().size();
  {
    MllogMetrics log(path_, facts(), 448, {});
    log.finish();  // stopped by a signal before its last step
  }
  EXPECT_GT(lines().size(), before) << "a resumed run goes on";
  EXPECT_EQ(lines().back().at("metadata").at("status"), "aborted");
  { MllogMetrics log(path_, facts(), 0, {}); }
  EXPECT_LT(lines().size(), 2 * before) << "a new run starts over";
}

TEST_F(MllogTest, SaysWhatTheOptimiserReads) {
  EXPECT_EQ(facts().at("opt_name"), "lamb");
  EXPECT_EQ(facts().at("opt_base_learning_rate"), 0.002);
  EXPECT_TRUE(facts("adamw").contains("opt_adamw_beta_1"));
  EXPECT_FALSE(facts("sgd").contains("opt_sgd_beta_1"));
}

}  // namespace
}  // namespace cloze::train
