#include "tasks/contrastive/contrastive_losses.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "platform/parallel_for.h"

namespace cloze::tasks {
namespace {

using std::span;

// Rows of the positives of all samples, then of their negatives.
std::vector<int64_t> candidate_rows(const ComparedVectors& vectors) {
  std::vector<int64_t> rows;
  for (int64_t text = 1; text < vectors.texts; ++text) {
    for (int64_t i = 0; i < vectors.samples(); ++i) rows.push_back(i * vectors.texts + text);
  }
  return rows;
}

// A softmax over the candidates of an anchor: what it loses by its positive, candidate `right`, and,
// in the place of the logits, the gradient of that by them.
double loss_of_anchor(span<double> logits, size_t right) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const double logit : logits) sum += std::exp(logit - most);
  const double loss = most + std::log(sum) - logits[right];
  for (double& logit : logits) logit = std::exp(logit - most) / sum;
  logits[right] -= 1.0;
  return loss;
}

// First the rows of the logits, an anchor each, then their columns, a candidate each.
double multiple_negatives(const ComparedVectors& vectors, const LossSettings& settings,
                          span<double> gradient) {
  Cosines cosines(vectors);
  const std::vector<int64_t> candidates = candidate_rows(vectors);
  const size_t width = candidates.size();
  const auto anchors = static_cast<size_t>(vectors.samples());
  const double share = settings.scale / static_cast<double>(anchors);
  std::vector<float> weights(anchors * width);
  std::vector<double> losses(anchors);
  platform::parallel_for(vectors.samples(), settings.threads, [&](int64_t i) {
    const auto row = static_cast<size_t>(i);
    const int64_t anchor = i * vectors.texts;
    std::vector<double> logits;
    for (const int64_t c : candidates) logits.push_back(settings.scale * cosines.of(anchor, c));
    losses[row] = loss_of_anchor(logits, row);
    for (size_t c = 0; c < width; ++c) {
      cosines.add_to(anchor, candidates[c], share * logits[c]);
      weights[row * width + c] = static_cast<float>(share * logits[c]);
    }
  });
  platform::parallel_for(std::ssize(candidates), settings.threads, [&](int64_t c) {
    const auto column = static_cast<size_t>(c);
    for (size_t i = 0; i < anchors; ++i) {
      cosines.add_to(candidates[column], static_cast<int64_t>(i) * vectors.texts,
                     weights[i * width + column]);
    }
  });
  cosines.finish(gradient);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(anchors);
}

// The samples' cosines of the first two texts.
std::vector<double> pair_cosines(const ComparedVectors& vectors, const Cosines& cosines) {
  std::vector<double> all;
  for (int64_t i = 0; i < vectors.samples(); ++i) {
    all.push_back(cosines.of(i * vectors.texts, i * vectors.texts + 1));
  }
  return all;
}

// Adds the gradients by the samples' cosines.
void add_pairs(const ComparedVectors& vectors, span<const double> weights, Cosines& cosines,
               span<double> gradient) {
  for (int64_t i = 0; i < vectors.samples(); ++i) {
    cosines.add(i * vectors.texts, i * vectors.texts + 1, weights[static_cast<size_t>(i)]);
  }
  cosines.finish(gradient);
}

double cosent(const ComparedVectors& vectors, const LossSettings& settings, span<double> gradient) {
  Cosines cosines(vectors);
  const std::vector<double> all = pair_cosines(vectors, cosines);
  const span<const float> scores = vectors.scores;
  const auto for_each_order = [&](const auto& visit) {
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < all.size(); ++j) {
        if (scores[i] < scores[j]) visit(i, j, settings.scale * (all[i] - all[j]));
      }
    }
  };
  double most = 0.0;
  for_each_order([&](size_t, size_t, double exponent) { most = std::max(most, exponent); });
  double sum = std::exp(-most);
  for_each_order([&](size_t, size_t, double exponent) { sum += std::exp(exponent - most); });
  std::vector<double> weights(all.size());
  for_each_order([&](size_t i, size_t j, double exponent) {
    const double weight = settings.scale * std::exp(exponent - most) / sum;
    weights[i] += weight;
    weights[j] -= weight;
  });
  add_pairs(vectors, weights, cosines, gradient);
  return most + std::log(sum);
}

double cosine(const ComparedVectors& vectors, const LossSettings& /*settings*/,
              span<double> gradient) {
  Cosines cosines(vectors);
  std::vector<double> weights = pair_cosines(vectors, cosines);
  const double share = 1.0 / static_cast<double>(vectors.samples());
  double loss = 0.0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double difference = weights[i] - double{vectors.scores[i]};
    loss += share * difference * difference;
    weights[i] = 2.0 * share * difference;
  }
  add_pairs(vectors, weights, cosines, gradient);
  return loss;
}

// Adds the gradient of weight * |one - other|; two equal vectors have none.
void add_distance(const ComparedVectors& vectors, std::array<int64_t, 2> rows, double weight,
                  double distance, span<double> gradient) {
  if (distance == 0.0) return;
  const span<const double> one = vectors.row(rows[0]), other = vectors.row(rows[1]);
  double* const of_one = gradient.data() + rows[0] * vectors.dimensions;
  double* const of_other = gradient.data() + rows[1] * vectors.dimensions;
  for (size_t i = 0; i < one.size(); ++i) {
    const double part = weight * (one[i] - other[i]) / distance;
    of_one[i] += part;
    of_other[i] -= part;
  }
}

double distance_of(const ComparedVectors& vectors, int64_t one, int64_t other) {
  const span<const double> a = vectors.row(one), b = vectors.row(other);
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

// Visits (anchor, positive, negative) of every triplet.
template <typename Visit>
void for_each_triplet(const ComparedVectors& vectors, const Visit& visit) {
  for (int64_t i = 0; i < vectors.samples(); ++i) {
    const int64_t anchor = i * vectors.texts;
    for (int64_t n = 2; n < vectors.texts; ++n) visit(anchor, anchor + 1, anchor + n);
  }
}

double share_of_triplet(const ComparedVectors& vectors) {
  return 1.0 / static_cast<double>(vectors.samples() * (vectors.texts - 2));
}

double triplet_by_cosines(const ComparedVectors& vectors, double margin, span<double> gradient) {
  Cosines cosines(vectors);
  const double share = share_of_triplet(vectors);
  double loss = 0.0;
  for_each_triplet(vectors, [&](int64_t anchor, int64_t positive, int64_t negative) {
    const double excess = cosines.of(anchor, negative) - cosines.of(anchor, positive) + margin;
    if (excess <= 0.0) return;
    loss += share * excess;
    cosines.add(anchor, negative, share);
    cosines.add(anchor, positive, -share);
  });
  cosines.finish(gradient);
  return loss;
}

double triplet(const ComparedVectors& vectors, const LossSettings& settings,
               span<double> gradient) {
  if (settings.is_cosine) return triplet_by_cosines(vectors, settings.margin, gradient);
  const double share = share_of_triplet(vectors);
  double loss = 0.0;
  for_each_triplet(vectors, [&](int64_t anchor, int64_t positive, int64_t negative) {
    const double near = distance_of(vectors, anchor, positive);
    const double far = distance_of(vectors, anchor, negative);
    if (near - far + settings.margin <= 0.0) return;
    loss += share * (near - far + settings.margin);
    add_distance(vectors, {anchor, positive}, share, near, gradient);
    add_distance(vectors, {anchor, negative}, -share, far, gradient);
  });
  return loss;
}

}  // namespace

span<const ContrastiveLoss> contrastive_losses() {
  static constexpr ContrastiveLoss kRows[] = {
      {"multiple_negatives", TuplesNeeded::kPairs, multiple_negatives, true},
      {"triplet", TuplesNeeded::kNegatives, triplet},
      {"cosent", TuplesNeeded::kScores, cosent},
      {"cosine", TuplesNeeded::kScoresOfOne, cosine}};
  return kRows;
}

const ContrastiveLoss& contrastive_loss_named(std::string_view name) {
  const auto found = std::ranges::find(contrastive_losses(), name, &ContrastiveLoss::name);
  if (found == contrastive_losses().end()) {
    throw_user_error("there is no loss {}; known are {}", name,
                     fmt::join(contrastive_loss_names(), ", "));
  }
  return *found;
}

std::vector<std::string> contrastive_loss_names() {
  std::vector<std::string> names;
  for (const ContrastiveLoss& loss : contrastive_losses()) names.emplace_back(loss.name);
  return names;
}

}  // namespace cloze::tasks
