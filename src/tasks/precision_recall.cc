#include "tasks/precision_recall.h"

namespace cloze::tasks {

double share(double part, double all) { return all == 0.0 ? 0.0 : part / all; }

void PrecisionRecallMean::add(const PrecisionRecall& one, double weight) {
  sum_.precision += weight * one.precision;
  sum_.recall += weight * one.recall;
  sum_.f1 += weight * one.f1;
  sum_.support += one.support;
  weight_ += weight;
}

PrecisionRecall PrecisionRecallMean::mean() const {
  return {.precision = share(sum_.precision, weight_),
          .recall = share(sum_.recall, weight_),
          .f1 = share(sum_.f1, weight_),
          .support = sum_.support};
}

PrecisionRecall precision_recall(const ClassCounts& counts) {
  const auto both = static_cast<double>(counts.both);
  const auto gold = static_cast<double>(counts.gold);
  const auto predicted = static_cast<double>(counts.predicted);
  return {.precision = share(both, predicted),
          .recall = share(both, gold),
          .f1 = share(2 * both, gold + predicted),
          .support = counts.gold};
}

PrecisionRecallMeans means_of(std::span<const ClassCounts> classes) {
  ClassCounts all;
  PrecisionRecallMean macro, weighted;
  for (const ClassCounts& one : classes) {
    all.both += one.both;
    all.gold += one.gold;
    all.predicted += one.predicted;
    const PrecisionRecall score = precision_recall(one);
    macro.add(score);
    weighted.add(score, static_cast<double>(score.support));
  }
  return {.micro = precision_recall(all), .macro = macro.mean(), .weighted = weighted.mean()};
}

}  // namespace cloze::tasks
