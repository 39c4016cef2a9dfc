// report.html: how a model was fine-tuned and what it scored, as a page that needs nothing from
// elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cloze::cli {

struct FinetuneReport {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // name, value
  // The record of the training (train/metrics/metrics.h), for the curves; empty: nothing was trained.
  std::filesystem::path metrics;
  std::string scores;  // HTML: FinetuningTask::report()
};

std::string finetune_report_html(const FinetuneReport& report);

}  // namespace cloze::cli
