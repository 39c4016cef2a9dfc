#include "tasks/labelled/class_scores.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tasks/label_scores.h"

namespace cloze::tasks {
namespace {

using Confusion = std::vector<std::vector<int64_t>>;

double share(int64_t part, int64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

Confusion confusion_of(std::span<const ClassPrediction> predictions, int64_t num_classes) {
  const auto size = static_cast<size_t>(num_classes);
  Confusion rows(size, std::vector<int64_t>(size));
  for (const ClassPrediction& one : predictions) {
    ++rows[static_cast<size_t>(one.label)][static_cast<size_t>(one.predicted)];
  }
  return rows;
}

struct ClassCounts {
  int64_t right = 0, labels = 0, predictions = 0;
};

ClassCounts counts_of(const Confusion& confusion, size_t number) {
  ClassCounts counts{.right = confusion[number][number]};
  for (size_t other = 0; other < confusion.size(); ++other) {
    counts.labels += confusion[number][other];
    counts.predictions += confusion[other][number];
  }
  return counts;
}

void add(ClassScore& sum, const ClassScore& one, double weight) {
  sum.precision += weight * one.precision;
  sum.recall += weight * one.recall;
  sum.f1 += weight * one.f1;
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
  constexpr int kBins = 15;
  std::array<double, kBins> surplus{};  // of right rows over the sum of their probabilities
  for (const ClassPrediction& one : predictions) {
    // A bin holds its upper end.
    const int bin = static_cast<int>(std::ceil(one.probability * kBins)) - 1;
    surplus[static_cast<size_t>(std::clamp(bin, 0, kBins - 1))] +=
        (one.predicted == one.label ? 1.0 : 0.0) - one.probability;
  }
  double sum = 0.0;
  for (const double one : surplus) sum += std::abs(one);
  return sum / static_cast<double>(predictions.size());
}

formats::Json json_of(const ClassScore& score) {
  return {{"precision", score.precision},
          {"recall", score.recall},
          {"f1", score.f1},
          {"rows", score.rows}};
}

}  // namespace

ClassScores score_classes(std::span<const ClassPrediction> predictions, int64_t num_classes) {
  ClassScores scores{.calibration_error = calibration_error(predictions),
                     .confusion = confusion_of(predictions, num_classes)};
  scores.matthews = matthews_of(predictions);
  std::vector<ClassCounts> counts;
  for (size_t number = 0; number < scores.confusion.size(); ++number) {
    counts.push_back(counts_of(scores.confusion, number));
  }
  const auto present = static_cast<double>(std::ranges::count_if(
      counts, [](const ClassCounts& one) { return one.labels + one.predictions > 0; }));
  const std::ptrdiff_t rows = std::ssize(predictions);
  int64_t right = 0;
  for (const ClassCounts& one : counts) {
    right += one.right;
    const ClassScore& score = scores.classes.emplace_back(
        ClassScore{.precision = share(one.right, one.predictions),
                   .recall = share(one.right, one.labels),
                   .f1 = share(2 * one.right, one.labels + one.predictions),
                   .rows = one.labels});
    add(scores.macro, score, 1.0 / present);  // an absent class adds zeros
    add(scores.weighted, score, share(one.labels, rows));
  }
  scores.macro.rows = scores.weighted.rows = rows;
  scores.accuracy = share(right, rows);
  return scores;
}

formats::Json class_scores_json(const ClassScores& scores, std::span<const std::string> names) {
  formats::Json classes = formats::Json::object();
  for (size_t number = 0; number < names.size(); ++number) {
    classes[names[number]] = json_of(scores.classes[number]);
  }
  return {{"accuracy", scores.accuracy},
          {"macro", json_of(scores.macro)},
          {"weighted", json_of(scores.weighted)},
          {"matthews", scores.matthews},
          {"calibration_error", scores.calibration_error},
          {"classes", classes},
          {"labels", names},
          {"confusion", scores.confusion}};
}

}  // namespace cloze::tasks
