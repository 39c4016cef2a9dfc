// GLUE's metrics (tasks/label_scores.h), over predictions and labels as numbers
// (GlueExample::label).
#pragma once

#include <span>
#include <string>

#include "tasks/glue/glue_task.h"

namespace cloze::tasks {

// Both of one length, at least 1.
double glue_metric(GlueMetric metric, std::span<const double> predictions,
                   std::span<const double> labels);

// {"accuracy": 0.86, "f1": 0.9}: the metrics of the task, as shares of 1.
std::string glue_scores_json(const GlueTask& task, std::span<const double> predictions,
                             std::span<const double> labels);

}  // namespace cloze::tasks
