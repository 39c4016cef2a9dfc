// Precision, recall and F1 of classes, of labels or of types of entities, and the means of them.
//
//   precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)
//   micro     of the sums of TP, FP and FN
//   macro     mean over the classes
//   weighted  mean over the classes, each with the weight of its support
//
// 0 / 0 counts as 0, and so does the mean over nothing.
// Source: scikit-learn's conventions (precision_recall_fscore_support with zero_division 0).
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "formats/json.h"

namespace cloze::tasks {

// Counts how often a class is the gold one (TP + FN), is the predicted one (TP + FP), and is both
// (TP).
struct ClassCounts {
  int64_t both = 0, gold = 0, predicted = 0;

  void add(bool is_gold, bool is_predicted) {
    both += is_gold && is_predicted ? 1 : 0;
    gold += is_gold ? 1 : 0;
    predicted += is_predicted ? 1 : 0;
  }
};

struct PrecisionRecall {
  double precision = 0.0, recall = 0.0, f1 = 0.0;
  int64_t support = 0;  // how often it is the gold one; of a mean: in all
};
constexpr auto json_members(const PrecisionRecall*) {
  return std::tuple{formats::JsonName{"precision", &PrecisionRecall::precision},
                    formats::JsonName{"recall", &PrecisionRecall::recall},
                    formats::JsonName{"f1", &PrecisionRecall::f1},
                    formats::JsonName{"support", &PrecisionRecall::support}};
}

struct PrecisionRecallMeans {
  PrecisionRecall micro, macro, weighted;
};

PrecisionRecall precision_recall(const ClassCounts& counts);
PrecisionRecallMeans means_of(std::span<const ClassCounts> classes);

// part / all, and 0 / 0 = 0.
double share(double part, double all);

// The mean of precision, of recall and of F1; the sum of the supports.
class PrecisionRecallMean {
 public:
  void add(const PrecisionRecall& one, double weight = 1.0);
  PrecisionRecall mean() const;

 private:
  PrecisionRecall sum_;
  double weight_ = 0.0;
};

}  // namespace cloze::tasks
