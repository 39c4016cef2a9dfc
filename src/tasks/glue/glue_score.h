// GLUE's metrics, over predictions and labels as numbers (GlueExample::label).
//
//   accuracy   share of equal ones
//   f1         of class 1: 2 TP / (2 TP + FP + FN); 0 when that is 0 / 0
//   matthews   (c s - sum_k p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)), with s examples,
//              c of them right, t_k of class k and p_k predicted so; 0 when the root is 0
//   pearson    cov(x, y) / (sd(x) sd(y)); not a number when one of them is constant
//   spearman   pearson of the ranks, equal values sharing the mean of theirs
//
// Sources: Gorodkin 2004 (R_K, Matthews for several classes); scikit-learn's and scipy's
// conventions.
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
