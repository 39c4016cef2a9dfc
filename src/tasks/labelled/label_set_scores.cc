#include "tasks/labelled/label_set_scores.h"

namespace cloze::tasks {
namespace {

// The sums over the labels of each row, and over the rows of each label.
struct Counts {
  std::vector<ClassCounts> rows, labels;
};

Counts counts_of(std::span<const LabelSetPrediction> rows) {
  Counts counts{.rows = std::vector<ClassCounts>(rows.size()),
                .labels = std::vector<ClassCounts>(rows.front().gold.size())};
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t label = 0; label < counts.labels.size(); ++label) {
      const bool is_gold = rows[i].gold[label], is_predicted = rows[i].predicted[label];
      counts.rows[i].add(is_gold, is_predicted);
      counts.labels[label].add(is_gold, is_predicted);
    }
  }
  return counts;
}

// The share of gold labels among those that are at least as probable as this one.
double gold_share(const LabelSetPrediction& row, size_t label) {
  double gold = 0, all = 0;
  for (size_t other = 0; other < row.gold.size(); ++other) {
    if (row.probabilities[other] < row.probabilities[label]) continue;
    all += 1;
    gold += row.gold[other] ? 1 : 0;
  }
  return gold / all;
}

double ranking_precision(const LabelSetPrediction& row, int64_t num_gold) {
  if (num_gold == 0 || num_gold == std::ssize(row.gold)) return 1.0;
  double sum = 0;
  for (size_t label = 0; label < row.gold.size(); ++label) {
    if (row.gold[label]) sum += gold_share(row, label);
  }
  return sum / static_cast<double>(num_gold);
}

}  // namespace

std::vector<bool> labels_above(std::span<const double> thresholds,
                               std::span<const double> probabilities) {
  std::vector<bool> labels(probabilities.size());
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = probabilities[i] > thresholds[i];
  return labels;
}

LabelSetScores score_label_sets(std::span<const LabelSetPrediction> predictions) {
  const auto rows = static_cast<double>(predictions.size());
  const Counts counts = counts_of(predictions);
  LabelSetScores scores{.means = means_of(counts.labels)};
  for (const ClassCounts& one : counts.labels) scores.labels.push_back(precision_recall(one));
  const bool has_ranks = !predictions.front().probabilities.empty();
  PrecisionRecallMean samples;
  double wrong = 0, equal = 0, ranking = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const ClassCounts& row = counts.rows[i];
    samples.add(precision_recall(row));
    wrong += static_cast<double>(row.gold + row.predicted - 2 * row.both);
    equal += predictions[i].gold == predictions[i].predicted ? 1 : 0;
    if (has_ranks) ranking += ranking_precision(predictions[i], row.gold);
  }
  scores.samples = samples.mean();
  scores.subset_accuracy = equal / rows;
  scores.hamming_loss = wrong / (rows * static_cast<double>(counts.labels.size()));
  if (has_ranks) scores.ranking_precision = ranking / rows;
  return scores;
}

formats::Json label_set_scores_json(const LabelSetScores& scores,
                                    std::span<const std::string> names) {
  formats::Json labels = formats::Json::object();
  for (size_t i = 0; i < names.size(); ++i) labels[names[i]] = scores.labels[i];
  formats::Json json = {{"micro", scores.means.micro},
                        {"macro", scores.means.macro},
                        {"weighted", scores.means.weighted},
                        {"samples", scores.samples},
                        {"subset_accuracy", scores.subset_accuracy},
                        {"hamming_loss", scores.hamming_loss}};
  if (scores.ranking_precision) {
    json["label_ranking_average_precision"] = *scores.ranking_precision;
  }
  json["labels"] = labels;
  return json;
}

}  // namespace cloze::tasks
