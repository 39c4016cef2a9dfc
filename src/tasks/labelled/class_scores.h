// Scores of a classifier whose classes are a user's own.
//
//   precision, recall, F1 of each class, and their macro and weighted means over the classes that are
//               a label or a prediction of some row (tasks/precision_recall.h)
//   accuracy    share of right rows; it equals micro precision, recall and F1
//   matthews    R_K (tasks/label_scores.h)
//   calibration error  sum_b n_b / N |accuracy_b - confidence_b|, over 15 equal bins of the
//                      probability of the predicted class (expected calibration error)
//
// Sources: scikit-learn's conventions (classification_report with zero_division 0); Guo et al. 2017.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "tasks/precision_recall.h"

namespace cloze::tasks {

// The classes of one row, by number.
struct ClassPrediction {
  int64_t label = 0;
  int64_t predicted = 0;
  double probability = 0.0;  // of the predicted class
};

struct ClassScores {
  double accuracy = 0.0, matthews = 0.0, calibration_error = 0.0;
  PrecisionRecall macro, weighted;
  std::vector<PrecisionRecall> classes;
  std::vector<std::vector<int64_t>> confusion;  // [label][predicted] rows
};

// The rows whose predicted class is about as probable.
struct CalibrationBin {
  int64_t rows = 0;
  double confidence = 0.0, accuracy = 0.0;  // means; 0 without rows
};

// 15 bins, (0, 1/15] to (14/15, 1].
std::vector<CalibrationBin> calibration_bins(std::span<const ClassPrediction> predictions);

// At least one prediction; num_classes above every number in them.
ClassScores score_classes(std::span<const ClassPrediction> predictions, int64_t num_classes);

// All of them, with the classes by name, as shares of 1.
formats::Json class_scores_json(const ClassScores& scores, std::span<const std::string> names);

}  // namespace cloze::tasks
