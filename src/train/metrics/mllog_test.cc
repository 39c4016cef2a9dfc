#include "train/metrics/mllog.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "formats/json.h"
#include "platform/files/file.h"
#include "train/mllog_run.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

class MllogTest : public testing::Test {
 protected:
  ~MllogTest() override { fs::remove(path_); }

  static MllogRun run(const std::string& optimizer = "lamb") {
    TrainingOptions options;
    options.global_batch_size = 448;
    options.num_steps = 2;
    options.step.optimizer.name = optimizer;
    options.schedule.base_learning_rate = 0.002;
    return mllog_run(options, 512);
  }

  std::vector<formats::Json> lines() const {
    const std::string text = platform::read_file(path_);
    std::vector<formats::Json> lines;
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
    MllogMetrics log(path_, run(), {}, start);
    log.write({.step = 1, .samples = 448, .loss = 7.5, .losses = {{.name = "mlm", .loss = 7.0}}});
    log.write({.step = 2, .samples = 896, .loss = 7.0, .sequences_per_second = 99.0});
    log.finish();
  }
  std::map<std::string, int64_t> count;
  std::vector<std::string> intervals;
  double last_ms = 0.0;
  for (const formats::Json& line : lines()) {
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
  for (const char* key : {"global_batch_size",
                          "opt_base_learning_rate",
                          "opt_lamb_epsilon",
                          "opt_learning_rate_training_steps",
                          "opt_learning_rate_warmup_steps",
                          "num_warmup_steps",
                          "start_warmup_step",
                          "opt_lamb_beta_1",
                          "opt_lamb_beta_2",
                          "opt_lamb_weight_decay_rate",
                          "seed",
                          "max_sequence_length",
                          "submission_benchmark",
                          "submission_org",
                          "submission_division",
                          "submission_status",
                          "submission_platform",
                          "cache_clear",
                          "gradient_accumulation_steps",
                          "opt_epsilon",
                          "train_samples"}) {
    EXPECT_EQ(count[key], 1) << key;
  }
  const auto all = lines();
  EXPECT_EQ(all.front().at("key"), "init_start");
  EXPECT_EQ(
      all.front().at("time_ms"),
      std::chrono::duration_cast<std::chrono::milliseconds>(start.time_since_epoch()).count());
  EXPECT_EQ(all.back().at("metadata").at("status"), "success");
  const formats::Json& step = all[all.size() - 5];
  EXPECT_EQ(step.at("key"), "tracked_stats");
  EXPECT_EQ(step.at("value").at("mlm_loss"), 7.0);
  EXPECT_EQ(step.at("metadata").at("samples_count"), 448);
}

TEST_F(MllogTest, ARunThatDoesNotComeToItsEndIsAborted) {
  { MllogMetrics(path_, run(), {}, {}).write({.step = 1, .samples = 448}); }
  EXPECT_EQ(lines().back().at("key"), "run_stop");
  EXPECT_EQ(lines().back().at("metadata").at("status"), "aborted");
  const size_t before = lines().size();
  {
    MllogMetrics log(path_, run(), {.steps = 1, .samples = 448}, {});
    log.finish();  // stopped by a signal before its last step
  }
  EXPECT_GT(lines().size(), before) << "a resumed run goes on";
  EXPECT_EQ(lines().back().at("metadata").at("status"), "aborted");
  { MllogMetrics log(path_, run(), {}, {}); }
  EXPECT_LT(lines().size(), 2 * before) << "a new run starts over";
}

// A run that reaches its target with its second evaluation.
TEST_F(MllogTest, EvaluationsStandBetweenBlocks) {
  MllogRun with_target = run();
  with_target.target = 0.72;
  with_target.tensors = {"bert/pooler/dense/kernel"};
  {
    MllogMetrics log(path_, with_target, {}, MllogMetrics::Clock::now());
    log.write({.step = 1, .samples = 448});
    log.write_evaluation({.step = 1, .samples = 448, .score = 0.5});
    log.write({.step = 2, .samples = 896});
    log.write_evaluation({.step = 2, .samples = 896, .score = 0.73});
    log.finish();
  }
  std::vector<std::string> keys;
  double last_ms = 0.0;
  for (const formats::Json& line : lines()) {
    const auto key = line.at("key").get<std::string>();
    if (key == "run_start" || !keys.empty()) keys.push_back(key);
    EXPECT_GE(line.at("time_ms").get<double>(), last_ms) << key;
    last_ms = line.at("time_ms").get<double>();
    if (key == "weights_initialization") {
      EXPECT_EQ(line.at("metadata").at("tensor"), "bert/pooler/dense/kernel");
    }
  }
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "run_start", "block_start", "tracked_stats", "block_stop", "eval_start",
                      "eval_accuracy", "eval_stop", "block_start", "tracked_stats", "block_stop",
                      "eval_start", "eval_accuracy", "eval_stop", "train_samples", "run_stop"}));
  const formats::Json accuracy = lines()[lines().size() - 4];
  EXPECT_EQ(accuracy.at("value"), 0.73);
  EXPECT_EQ(accuracy.at("metadata").at("epoch_num"), 896);
  EXPECT_EQ(lines().back().at("metadata").at("status"), "success");
}

TEST_F(MllogTest, ARunThatMissesItsTargetIsAborted) {
  MllogRun with_target = run();
  with_target.target = 0.72;
  MllogMetrics log(path_, with_target, {}, {});
  log.write({.step = 2, .samples = 896});
  log.write_evaluation({.step = 2, .samples = 896, .score = 0.71});
  log.finish();
  EXPECT_EQ(lines().back().at("metadata").at("status"), "aborted");
}

// There is nothing left to do.
TEST_F(MllogTest, AFinishedRunThatIsResumedIsNoLessFinished) {
  const auto status_of = [&](const MllogRun& run, const MllogPlace& done) {
    MllogMetrics(path_, run, done, {}).finish();
    return lines().back().at("metadata").at("status");
  };
  MllogRun resumed = run();
  EXPECT_EQ(status_of(resumed, {.steps = 2, .samples = 896}), "success");
  resumed.evaluates = true;
  EXPECT_EQ(status_of(resumed, {.steps = 2, .samples = 896, .evaluated_step = 2}), "success");
  resumed.target = 0.72;
  EXPECT_EQ(status_of(resumed, {.steps = 1, .samples = 448, .best = 0.73}), "success");
  EXPECT_EQ(status_of(resumed, {.steps = 2, .samples = 896, .best = 0.71}), "aborted");
}

TEST_F(MllogTest, ARunThatIsStoppedInItsLastEvaluationIsAborted) {
  MllogRun evaluated = run();
  evaluated.evaluates = true;
  MllogMetrics log(path_, evaluated, {}, {});
  log.write_evaluation({.step = 1, .samples = 448, .score = 0.5});
  log.write({.step = 2, .samples = 896});
  log.finish();
  EXPECT_EQ(lines().back().at("metadata").at("status"), "aborted");
}

TEST_F(MllogTest, SaysWhatTheOptimiserReads) {
  EXPECT_EQ(run().facts.at("opt_name"), "lamb");
  EXPECT_EQ(run().facts.at("opt_base_learning_rate"), 0.002);
  EXPECT_TRUE(run("adamw").facts.contains("opt_adamw_beta_1"));
  EXPECT_FALSE(run("sgd").facts.contains("opt_sgd_beta_1"));
}

}  // namespace
}  // namespace cloze::train
