// The tasks of GLUE: the names of their files and columns, what the labels are, and how a task is
// scored. Source: Wang et al. 2018, gluebenchmark.com; the official TSV files.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace cloze::tasks {

enum class GlueMetric { kAccuracy, kF1, kMatthews, kPearson, kSpearman };
std::string_view name_of(GlueMetric metric);  // "accuracy", "f1", "matthews", ...

struct GlueTask {
  std::string_view name;  // "MRPC"
  std::string_view first_column;
  std::string_view second_column;  // empty: single sentences
  std::string_view label_column;   // empty: no file has labels
  // Labels in the order of the classes; empty: the label is a number from 0 to 5.
  std::vector<std::string_view> labels;
  std::vector<GlueMetric> metrics;
  // The official train.tsv has lines that lack columns, which transformers' and Megatron's readers
  // skip.
  bool has_short_lines = false;

  bool is_regression() const { return labels.empty(); }
};

// CoLA, SST-2, MRPC, STS-B, QQP, MNLI, MNLI-mm, QNLI, RTE, WNLI, AX.
std::vector<std::string_view> glue_task_names();
// Case does not matter, nor "-" or "_". UserError that lists the names otherwise.
const GlueTask& glue_task(std::string_view name);
// The name in lower case, without '-' and '_': tasks and classes with equal plain names are the
// same.
std::string plain_name(std::string_view name);

bool is_glue_task(std::string_view name);

// Says whether a classifier that was trained on the task `name` serves `task`: both are the same
// task, or both are among MNLI, MNLI-mm and AX.
bool has_classifier_of(const GlueTask& task, std::string_view name);

// Names the file that holds a split of a GLUE task, in a task's folder or in the folder above it,
// as the official download has them:
//
//   task      folder            train      dev                 test
//   MNLI      MNLI              train.tsv  dev_matched.tsv     test_matched.tsv
//   MNLI-mm   MNLI              train.tsv  dev_mismatched.tsv  test_mismatched.tsv
//   AX        diagnostic or AX                                 diagnostic.tsv or test.tsv
//   others    the task's name   train.tsv  dev.tsv             test.tsv
enum class GlueSplit { kTrain, kDev, kTest };
std::string_view name_of(GlueSplit split);  // "train", "dev", "test"

std::optional<std::filesystem::path> find_glue_file(const std::filesystem::path& folder,
                                                    const GlueTask& task, GlueSplit split);

// The same; UserError that lists the paths it looked for when there is none, or says that AX is for
// testing.
std::filesystem::path glue_file(const std::filesystem::path& folder, const GlueTask& task,
                                GlueSplit split);

}  // namespace cloze::tasks
