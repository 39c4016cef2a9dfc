// Scores of sets of labels: a row has several of C labels, or one, or none.
//
//   precision, recall, F1 of each label, and their micro, macro and weighted means
//                    (tasks/precision_recall.h); all C labels count
//   samples          means over the rows of |gold and predicted| / |predicted|, of the same
//                    / |gold|, and of twice the same / (|gold| + |predicted|); 0 / 0 = 0
//   subset accuracy  share of rows whose sets are equal
//   Hamming loss     share of wrong decisions among rows times labels
//   label ranking average precision
//                    mean over the rows of: the mean over a row's gold labels of the share of gold
//                    ones among the labels that are at least as probable; 1 for a row whose labels
//                    are all gold, or none of them
//
// Source: scikit-learn (precision_recall_fscore_support with zero_division 0, accuracy_score,
// hamming_loss, label_ranking_average_precision_score).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "tasks/precision_recall.h"

namespace cloze::tasks {

struct LabelSetPrediction {
  std::vector<bool> gold, predicted;  // [C]: whether the row has the label
  std::vector<double> probabilities;  // [C], or none
};

struct LabelSetScores {
  PrecisionRecallMeans means;
  PrecisionRecall samples;
  double subset_accuracy = 0.0, hamming_loss = 0.0;
  std::optional<double> ranking_precision;  // where the rows have probabilities
  std::vector<PrecisionRecall> labels;
};

// The labels whose probability is above their threshold. Both lists: [C].
std::vector<bool> labels_above(std::span<const double> thresholds,
                               std::span<const double> probabilities);

// At least one prediction; all have the same C, at least 1, and all or none have probabilities.
LabelSetScores score_label_sets(std::span<const LabelSetPrediction> predictions);

// All of them, with the labels by name.
formats::Json label_set_scores_json(const LabelSetScores& scores,
                                    std::span<const std::string> names);

}  // namespace cloze::tasks
