#include "tasks/labelled/number_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "formats/plot.h"
#include "tasks/label_scores.h"
#include "tasks/labelled/row_table.h"

namespace cloze::tasks {
namespace {

constexpr size_t kMostErrors = 30;
constexpr size_t kMostDots = 5000;  // so that a browser stays quick

std::string scatter_part(const ScoredNumbers& scored) {
  std::vector<double> values(scored.labels.begin(), scored.labels.end());
  values.insert(values.end(), scored.predictions.begin(), scored.predictions.end());
  const formats::PlotAxis axis = formats::axis_around("label", values);
  const formats::PlotArea area(axis, {"predicted", axis.low, axis.high});
  const size_t stride = 1 + (scored.labels.size() - 1) / kMostDots;
  std::vector<formats::PlotPoint> points;
  for (size_t i = 0; i < scored.labels.size(); i += stride) {
    points.push_back({scored.labels[i], scored.predictions[i]});
  }
  const std::string which =
      stride == 1 ? "A dot for each row" : fmt::format("A dot for one row in {}", stride);
  return heading("Predictions over labels") +
         paragraph(which + "; on the dashed line both are equal.") +
         formats::html_picture(
             area.svg("Predictions over labels",
                      area.line({{axis.low, axis.low}, {axis.high, axis.high}}, "ideal") +
                          area.dots(points, 3)));
}

std::string errors_part(const ScoredNumbers& scored) {
  std::vector<size_t> order(scored.labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) {
    return std::abs(scored.predictions[i] - scored.labels[i]);
  });
  RowTable table({{"predicted", true}, {"label", true}, {"error", true}});
  for (size_t i = 0; i < std::min(order.size(), kMostErrors); ++i) {
    const double predicted = scored.predictions[order[i]], label = scored.labels[order[i]];
    table.add({fmt::format("{:.4g}", predicted), fmt::format("{:.6g}", label),
               fmt::format("{:.4g}", predicted - label)},
              scored.rows[order[i]]);
  }
  return heading("Largest errors") + table.html();
}

}  // namespace

std::string number_report(const ScoredNumbers& scored) {
  double error = 0.0;
  for (size_t i = 0; i < scored.labels.size(); ++i) {
    error += std::abs(scored.predictions[i] - scored.labels[i]);
  }
  return heading("Scores") +
         score_facts({{"Pearson's correlation", pearson(scored.predictions, scored.labels)},
                      {"Spearman's correlation", spearman(scored.predictions, scored.labels)},
                      {"mean absolute error", error / static_cast<double>(scored.labels.size())}}) +
         scatter_part(scored) + errors_part(scored);
}

}  // namespace cloze::tasks
