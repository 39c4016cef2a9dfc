#include "tasks/label_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

namespace cloze::tasks {
namespace {

using Values = std::span<const double>;

double right_ones(Values predictions, Values labels) {
  double right = 0;
  for (size_t i = 0; i < labels.size(); ++i) right += predictions[i] == labels[i] ? 1 : 0;
  return right;
}

std::vector<double> ranks(Values values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) {
      result[order[i]] = static_cast<double>(begin + end - 1) / 2;
    }
  }
  return result;
}

}  // namespace

double accuracy(Values predictions, Values labels) {
  return right_ones(predictions, labels) / static_cast<double>(labels.size());
}

double f1(Values predictions, Values labels) {
  double both = 0, either = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    both += predictions[i] == 1 && labels[i] == 1 ? 1 : 0;
    either += (predictions[i] == 1 ? 1 : 0) + (labels[i] == 1 ? 1 : 0);
  }
  return either == 0 ? 0 : 2 * both / either;
}

double matthews(Values predictions, Values labels) {
  std::map<double, double> predicted, real;
  for (const double value : predictions) predicted[value] += 1;
  for (const double value : labels) real[value] += 1;
  const auto s = static_cast<double>(labels.size());
  double covariance = right_ones(predictions, labels) * s;
  double predicted_variance = s * s, real_variance = s * s;
  for (const auto& [value, count] : predicted) {
    const auto found = real.find(value);
    covariance -= count * (found == real.end() ? 0 : found->second);
    predicted_variance -= count * count;
  }
  for (const auto& [value, count] : real) real_variance -= count * count;
  const double root = std::sqrt(predicted_variance * real_variance);
  return root == 0 ? 0 : covariance / root;
}

// NaN where all of x or all of y are equal: the rounding of their mean would make it a number.
double pearson(Values x, Values y) {
  const auto is_constant = [](Values values) {
    return std::ranges::adjacent_find(values, std::ranges::not_equal_to()) == values.end();
  };
  if (is_constant(x) || is_constant(y)) return std::numeric_limits<double>::quiet_NaN();
  const auto mean = [](Values values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double x_mean = mean(x), y_mean = mean(y);
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - x_mean) * (y[i] - y_mean);
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
  }
  const double root = std::sqrt(xx * yy);
  return root == 0 ? std::numeric_limits<double>::quiet_NaN() : xy / root;
}

double spearman(Values predictions, Values labels) {
  return pearson(ranks(predictions), ranks(labels));
}

}  // namespace cloze::tasks
