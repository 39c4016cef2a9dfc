#include "cli/training/finetune_report.h"

#include <gtest/gtest.h>

#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::cli {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

using FinetuneReportTest = platform::OwnFolderTest;

TEST_F(FinetuneReportTest, HasFactsScoresAndCurves) {
  const std::filesystem::path metrics = folder_ / "metrics.jsonl";
  platform::write_file_atomically(
      metrics,
      "{\"schema\": \"cloze.metrics\", \"version\": 1}\n{\"step\": 1, \"loss\": 0.9}\n"
      "{\"step\": 2, \"loss\": null}\n{\"step\": 3, \"loss\": 0.3}\n"
      "{\"evaluated_step\": 3, \"score\": 0.75}\n{\"step\": 4, \"lo");
  const std::string html = finetune_report_html({.title = "A & B",
                                                 .facts = {{"seed", "<7>"}},
                                                 .metrics = metrics,
                                                 .scores = "<h2>Scores</h2>\n"});
  EXPECT_NE(html.find("<h1>A &amp; B</h1>"), std::string::npos);
  EXPECT_NE(html.find("<dd>&lt;7></dd>"), std::string::npos);
  EXPECT_NE(html.find("<h2>Scores</h2>\n<h2>Training</h2>"), std::string::npos);
  EXPECT_NE(html.find("aria-label=\"training loss over the steps\""), std::string::npos);
  EXPECT_EQ(count(html, "class=\"dot\""), 1u);
  EXPECT_NE(html.find("<title>step: 3, score that chooses the weights: 0.75</title>"),
            std::string::npos);
}

TEST_F(FinetuneReportTest, WithoutTrainingNoCurves) {
  const std::string html = finetune_report_html({.title = "t", .scores = "<h2>Scores</h2>\n"});
  EXPECT_EQ(html.find("Training</h2>"), std::string::npos);
  EXPECT_EQ(html.find("<svg"), std::string::npos);
}

// 100,000 steps are drawn by their means.
TEST_F(FinetuneReportTest, LongRunsStaySmall) {
  std::string lines;
  for (int step = 1; step <= 100'000; ++step) {
    lines += "{\"step\": " + std::to_string(step) + ", \"loss\": 1.5}\n";
  }
  platform::write_file_atomically(folder_ / "metrics.jsonl", lines);
  const std::string html = finetune_report_html({.metrics = folder_ / "metrics.jsonl"});
  EXPECT_LT(html.size(), 20'000u);
  EXPECT_EQ(count(html, "class=\"curve\""), 1u);
}

}  // namespace
}  // namespace cloze::cli
