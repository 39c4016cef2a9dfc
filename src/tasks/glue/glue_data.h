// A GLUE file: the examples of one split of a task, from the official TSV.
//
// Columns are found by their names in the header, wherever they stand; CoLA's train and dev files
// have none: there the label is column 2 and the sentence column 4. Quotes mean nothing. A byte
// order mark, as MRPC's files have it, is skipped.
//
// Errors: DataError that names file, line and column: a column that the task needs and the header
// lacks, a line with another number of columns than the header, bytes that are not UTF-8, an
// unknown label.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/glue/glue_task.h"

namespace cloze::tasks {

struct GlueExample {
  std::string first;
  std::string second;           // empty for single sentences
  std::optional<double> label;  // number of the class, or the score; nothing in test files
};

// needs_labels: for training and scoring; otherwise there may be a column of labels, but it is not
// read: test files have -1 or ? in it. Lines with too few columns are left out, and their numbers
// (from 1) go to short_lines, where that is given.
std::vector<GlueExample> read_glue(const std::filesystem::path& path, const GlueTask& task,
                                   bool needs_labels = false,
                                   std::vector<int64_t>* short_lines = nullptr);

// A submission file, as gluebenchmark.com takes it: "index<TAB>prediction" and a line for each
// example of the test file, counted from 0, in order; the prediction a label's text, or its number.
// The numbers are those of GlueExample::label.
std::vector<double> read_glue_predictions(const std::filesystem::path& path, const GlueTask& task);

// Writes one: MNLI, QNLI, RTE and AX have the label's text, STS-B the score with three decimals,
// within 0 to 5, the others 0 or 1. UserError when a score is not finite.
void write_glue_submission(const std::filesystem::path& path, const GlueTask& task,
                           std::span<const double> predictions);
// Its name: "MRPC.tsv"; MNLI's is "MNLI-m.tsv".
std::string glue_submission_name(const GlueTask& task);

}  // namespace cloze::tasks
