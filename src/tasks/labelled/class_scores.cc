#include "tasks/labelled/class_scores.h"

#include <algorithm>
#include <cmath>

#include "tasks/label_scores.h"

namespace cloze::tasks {
namespace {

using Confusion = std::vector<std::vector<int64_t>>;

Confusion confusion_of(std::span<const ClassPrediction> predictions, int64_t num_classes) {
  const auto size = static_cast<size_t>(num_classes);
  Confusion rows(size, std::vector<int64_t>(size));
  for (const ClassPrediction& one : predictions) {
    ++rows[static_cast<size_t>(one.label)][static_cast<size_t>(one.predicted)];
  }
  return rows;
}

ClassCounts counts_of(const Confusion& confusion, size_t number) {
  ClassCounts counts{.both = confusion[number][number]};
  for (size_t other = 0; other < confusion.size(); ++other) {
    counts.gold += confusion[number][other];
    counts.predicted += confusion[other][number];
  }
  return counts;
}

double matthews_of(std::span<const ClassPrediction> predictions) {
  std::vector<double> predicted, labels;
  for (const ClassPrediction& one : predictions) {
    predicted.push_back(static_cast<double>(one.predicted));
    labels.push_back(static_cast<double>(one.label));
  }
  return matthews(predicted, labels);
}

double calibration_error(std::span<const ClassPrediction> predictions) {
  double sum = 0.0;
  for (const CalibrationBin& bin : calibration_bins(predictions)) {
    sum += static_cast<double>(bin.rows) * std::abs(bin.accuracy - bin.confidence);
  }
  return sum / static_cast<double>(predictions.size());
}

}  // namespace

std::vector<CalibrationBin> calibration_bins(std::span<const ClassPrediction> predictions) {
  constexpr int kBins = 15;
  std::vector<CalibrationBin> bins(kBins);
  for (const ClassPrediction& one : predictions) {
    // A bin holds its upper end.
    const int number = static_cast<int>(std::ceil(one.probability * kBins)) - 1;
    CalibrationBin& bin = bins[static_cast<size_t>(std::clamp(number, 0, kBins - 1))];
    bin.rows += 1;
    bin.confidence += one.probability;
    bin.accuracy += one.predicted == one.label ? 1.0 : 0.0;
  }
  for (CalibrationBin& bin : bins) {
    bin.confidence = share(bin.confidence, static_cast<double>(bin.rows));
    bin.accuracy = share(bin.accuracy, static_cast<double>(bin.rows));
  }
  return bins;
}

ClassScores score_classes(std::span<const ClassPrediction> predictions, int64_t num_classes) {
  ClassScores scores{.calibration_error = calibration_error(predictions),
                     .confusion = confusion_of(predictions, num_classes)};
  scores.matthews = matthews_of(predictions);
  std::vector<ClassCounts> present;
  for (size_t number = 0; number < scores.confusion.size(); ++number) {
    const ClassCounts counts = counts_of(scores.confusion, number);
    scores.classes.push_back(precision_recall(counts));
    if (counts.gold + counts.predicted > 0) present.push_back(counts);
  }
  const PrecisionRecallMeans means = means_of(present);
  scores.accuracy = means.micro.f1;
  scores.macro = means.macro;
  scores.weighted = means.weighted;
  return scores;
}

formats::Json class_scores_json(const ClassScores& scores, std::span<const std::string> names) {
  formats::Json classes = formats::Json::object();
  for (size_t number = 0; number < names.size(); ++number) {
    classes[names[number]] = scores.classes[number];
  }
  return {{"accuracy", scores.accuracy},
          {"macro", scores.macro},
          {"weighted", scores.weighted},
          {"matthews", scores.matthews},
          {"calibration_error", scores.calibration_error},
          {"classes", classes},
          {"labels", names},
          {"confusion", scores.confusion}};
}

}  // namespace cloze::tasks
