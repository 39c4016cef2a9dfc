// Pictures of points over two axes, each an <svg> element of a page (html_page.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloze::formats {

// 1, 2 or 5 times a power of ten: about six of them up to `span`, above 0.
double tick_of(double span);

struct PlotPoint {
  double x = 0.0, y = 0.0;
};

struct PlotAxis {
  std::string name;
  double low = 0.0, high = 1.0;
};

// An axis from tick to tick around all values that are finite.
PlotAxis axis_around(std::string name, const std::vector<double>& values);

// The area in which points lie, with its axes: where things of the caller's are drawn.
class PlotArea {
 public:
  static constexpr double kWidth = 960, kHeight = 340;  // of the picture, in user units

  PlotArea(PlotAxis x, PlotAxis y) : x_(std::move(x)), y_(std::move(y)) {}

  double x(double value) const;
  double y(double value) const;
  // From corner to corner of two points.
  std::string rectangle(PlotPoint low, PlotPoint high, std::string_view css_class,
                        std::string_view title) const;
  std::string line(const std::vector<PlotPoint>& points, std::string_view css_class) const;
  std::string dots(const std::vector<PlotPoint>& points, double radius) const;
  // The picture: the axes, and what is drawn over them. `label` says what it shows.
  std::string svg(std::string_view label, std::string_view drawn) const;

 private:
  std::string grid() const;

  PlotAxis x_, y_;
};

// Rules of CSS of what a plot draws: .curve, .dot, .ideal, .bar.
extern const char* const kPlotStyle;

}  // namespace cloze::formats
