// Prediction files as gluebenchmark.com takes them: one file a task, "index<TAB>prediction" and a
// line for each example of the test file, counted from 0. MNLI, QNLI, RTE and AX have the label's
// text, STS-B the score with three decimals, within 0 to 5, the others 0 or 1.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tasks/glue/glue_task.h"

namespace cloze::tasks {

// "MRPC.tsv"; MNLI's is "MNLI-m.tsv".
std::string glue_submission_name(const GlueTask& task);

// predictions: numbers of classes, or scores, as GlueExample::label. UserError when a score is not
// finite.
void write_glue_submission(const std::filesystem::path& path, const GlueTask& task,
                           std::span<const double> predictions);

}  // namespace cloze::tasks
