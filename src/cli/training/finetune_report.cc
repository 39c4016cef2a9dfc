#include "cli/training/finetune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "formats/html_page.h"
#include "formats/json.h"
#include "formats/plot.h"

namespace cloze::cli {
namespace {

using formats::PlotPoint;

// More points than these are one line on a screen.
constexpr size_t kMostPoints = 400;

struct Curves {
  std::vector<PlotPoint> losses, scores;  // over steps
};

// Lines that are no objects, such as the last one of a full disk, are left out.
Curves read_curves(const std::filesystem::path& file) {
  Curves curves;
  std::ifstream lines(file);
  for (std::string text; std::getline(lines, text);) {
    const Result<formats::Json> line = formats::parse_json(text);
    if (!line || !line->is_object()) continue;
    const auto add = [&](const char* x, const char* y, std::vector<PlotPoint>& points) {
      if (!line->contains(x) || !line->contains(y)) return;
      points.push_back({formats::number_or_nan(line->at(x)), formats::number_or_nan(line->at(y))});
    };
    add("step", "loss", curves.losses);
    add("evaluated_step", "score", curves.scores);
  }
  return curves;
}

// The means of so many neighbours that few enough are left.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points) {
  const size_t size = 1 + (points.size() - 1) / kMostPoints;
  std::vector<PlotPoint> means;
  for (size_t begin = 0; begin < points.size(); begin += size) {
    const size_t end = std::min(points.size(), begin + size);
    PlotPoint mean;
    for (size_t i = begin; i < end; ++i) {
      mean.x += points[i].x / static_cast<double>(end - begin);
      mean.y += points[i].y / static_cast<double>(end - begin);
    }
    means.push_back(mean);
  }
  return means;
}

std::string curve(const std::string& name, const std::vector<PlotPoint>& points, bool has_dots) {
  if (points.empty()) return "";
  const std::vector<PlotPoint> shown = thinned(points);
  std::vector<double> values;
  for (const PlotPoint& point : shown) values.push_back(point.y);
  const formats::PlotArea area(formats::axis_around("step", {0.0, points.back().x}),
                               formats::axis_around(name, values));
  return formats::html_picture(area.svg(
      name + " over the steps", area.line(shown, "curve") + (has_dots ? area.dots(shown, 4) : "")));
}

std::string training_part(const std::filesystem::path& metrics) {
  if (metrics.empty()) return "";
  const Curves curves = read_curves(metrics);
  return "<h2>Training</h2>\n" + curve("training loss", curves.losses, false) +
         curve("score that chooses the weights", curves.scores, true);
}

}  // namespace

std::string finetune_report_html(const FinetuneReport& report) {
  return formats::html_page(
      {.title = report.title,
       .style = formats::kPlotStyle,
       .body = formats::html_facts(report.facts) + report.scores + training_part(report.metrics)});
}

}  // namespace cloze::cli
