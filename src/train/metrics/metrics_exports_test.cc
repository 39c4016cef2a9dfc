#include "train/metrics/metrics_exports.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "formats/json.h"
#include "platform/files/file.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

class MetricsExportsTest : public testing::Test {
 protected:
  MetricsExportsTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~MetricsExportsTest() override { fs::remove_all(folder_); }
  const fs::path folder_ = testing::TempDir() + "metrics_exports_test";
};

StepMetrics step_of(int64_t step) {
  return {.step = step,
          .samples = 32 * step,
          .loss = 10.0 / static_cast<double>(step),
          .losses = {{.name = "mlm", .loss = 7.5, .accuracy = 0.25}},
          .learning_rate = 1e-4};
}

std::vector<formats::Json> dllogger_lines(const fs::path& path) {
  const std::string text = platform::read_file(path);
  std::vector<formats::Json> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    EXPECT_EQ(text.substr(at, 5), "DLLL ");
    lines.push_back(*formats::parse_json(text.substr(at + 5, end - at - 5)));
    at = end + 1;
  }
  return lines;
}

TEST_F(MetricsExportsTest, DlloggerHasParametersStepsAndASummary) {
  const fs::path path = folder_ / "dllogger.json";
  {
    DlloggerMetrics log(path, {{"seed", 7}}, 0);
    log.write(step_of(1));
    log.write(step_of(2));
    log.finish();
  }
  const auto lines = dllogger_lines(path);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].at("step"), "PARAMETER");
  EXPECT_EQ(lines[0].at("data").at("seed"), 7);
  EXPECT_EQ(lines[1].at("type"), "LOG");
  EXPECT_EQ(lines[2].at("step"), formats::Json::array({2}));
  EXPECT_EQ(lines[2].at("data").at("step_loss"), 5.0);
  EXPECT_EQ(lines[2].at("data").at("mlm_loss"), 7.5);
  EXPECT_EQ(lines[3].at("step"), formats::Json::array());
  EXPECT_EQ(lines[3].at("data").at("final_loss"), 5.0);
  EXPECT_GT(lines[3].at("data").at("training_sequences_per_second").get<double>(), 0.0);

  DlloggerMetrics(path, {}, 2).write(step_of(3));
  EXPECT_EQ(dllogger_lines(path).size(), 5u) << "a resumed run goes on";
  DlloggerMetrics(path, {}, 0).write(step_of(1));
  EXPECT_EQ(dllogger_lines(path).size(), 1u) << "a new run starts over";
}

TEST_F(MetricsExportsTest, TheFolderOfAFileIsMade) {
  train::MetricsExports exports;
  exports.dllogger_file = "results/dllogger.json";
  make_exports(exports, {.folder = folder_});
  EXPECT_TRUE(fs::exists(folder_ / "results" / "dllogger.json"));
}

TEST_F(MetricsExportsTest, PrometheusHasTheNewestStep) {
  PrometheusMetrics metrics(folder_ / "cloze.prom");
  metrics.write(step_of(1));
  StepMetrics second = step_of(2);
  second.gradient_norm = std::numeric_limits<double>::infinity();
  metrics.write(second);
  const std::string text = platform::read_file(folder_ / "cloze.prom");
  EXPECT_NE(text.find("# TYPE cloze_step gauge\ncloze_step 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\ncloze_mlm_accuracy 0.25\n"), std::string::npos);
  EXPECT_NE(text.find("\ncloze_gradient_norm +Inf\n"), std::string::npos);
  EXPECT_EQ(text.find("cloze_step 1\n"), std::string::npos);
}

TEST_F(MetricsExportsTest, WandbRunsEndWell) {
  const auto exit_is_written = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.path().extension() != ".wandb") continue;
      const std::string bytes = platform::read_file(entry.path());
      EXPECT_NE(bytes.find("loss/MLM"), std::string::npos);
      EXPECT_NE(bytes.find("metrics_exports_test"), std::string::npos) << "the folder's name";
      // Record{num, exit = 18 {exit_code = 1}}: of a run that failed.
      return bytes.find(std::string("\x92\x01\x02\x08\x01", 5)) == std::string::npos;
    }
    return false;
  };
  for (const bool ends_well : {true, false}) {
    {
      WandbMetrics metrics(folder_, "", {{"seed", 7}}, 0);
      metrics.write(step_of(1));
      if (ends_well) metrics.finish();
    }
    EXPECT_EQ(exit_is_written(), ends_well);
    fs::remove_all(folder_ / "wandb");
  }
}

}  // namespace
}  // namespace cloze::train
