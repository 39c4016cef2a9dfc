#include "formats/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/html_page.h"
#include "formats/markup.h"

namespace cloze::formats {
namespace {

constexpr double kLeft = 70, kTop = 36, kBottom = 48, kRight = 20;
constexpr double kPlotWidth = PlotArea::kWidth - kLeft - kRight;
constexpr double kPlotHeight = PlotArea::kHeight - kTop - kBottom;

// The multiples of the axis' tick within it.
std::vector<double> ticks_of(const PlotAxis& axis) {
  const double tick = tick_of(axis.high - axis.low);
  std::vector<double> ticks;
  for (double i = std::ceil(axis.low / tick); i * tick <= axis.high + tick / 100; ++i) {
    ticks.push_back(i * tick);
  }
  return ticks;
}

bool is_finite(const PlotPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

}  // namespace

const char* const kPlotStyle = R"(
.curve{fill:none;stroke:#5576b8;stroke-width:1.6}.dot{fill:#e8a33d;fill-opacity:.75}
.ideal{fill:none;stroke:var(--text);stroke-opacity:.6;stroke-dasharray:5 4}.bar{fill:#5576b8}
)";

double tick_of(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 6)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (span / (step * power) <= 6.5) return step * power;
  }
  return 10 * power;
}

PlotAxis axis_around(std::string name, const std::vector<double>& values) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return {std::move(name), 0.0, 1.0};
  if (low == high) return {std::move(name), low - 1.0, high + 1.0};
  // A wider axis may have wider ticks.
  for (int i = 0; i < 2; ++i) {
    const double tick = tick_of(high - low);
    low = std::floor(low / tick) * tick;
    high = std::ceil(high / tick) * tick;
  }
  return {std::move(name), low, high};
}

double PlotArea::x(double value) const {
  return kLeft + kPlotWidth * (value - x_.low) / (x_.high - x_.low);
}

double PlotArea::y(double value) const {
  return kTop + kPlotHeight * (1 - (value - y_.low) / (y_.high - y_.low));
}

std::string PlotArea::rectangle(PlotPoint low, PlotPoint high, std::string_view css_class,
                                std::string_view title) const {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">"
      "<title>{}</title></rect>\n",
      x(low.x), y(high.y), x(high.x) - x(low.x), y(low.y) - y(high.y), css_class,
      escaped_markup(title));
}

std::string PlotArea::line(const std::vector<PlotPoint>& points, std::string_view css_class) const {
  std::string path;
  for (const PlotPoint& point : points) {
    if (!is_finite(point)) continue;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x(point.x), y(point.y));
  }
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" class=\"{}\"/>\n", path, css_class);
}

std::string PlotArea::dots(const std::vector<PlotPoint>& points, double radius) const {
  std::string svg;
  for (const PlotPoint& point : points) {
    if (!is_finite(point)) continue;
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"dot\"><title>{}: {:.6g}, {}: {:.6g}"
        "</title></circle>\n",
        x(point.x), y(point.y), radius, escaped_markup(x_.name), point.x, escaped_markup(y_.name),
        point.y);
  }
  return svg;
}

std::string PlotArea::grid() const {
  std::string svg;
  for (const double value : ticks_of(y_)) {
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" class=\"grid\"/>\n", kLeft, y(value),
                       kLeft + kPlotWidth);
    svg += svg_text({kLeft - 8, y(value) + 4, "end"}, fmt::format("{:.6g}", value));
  }
  for (const double value : ticks_of(x_)) {
    svg += svg_text({x(value), kTop + kPlotHeight + 18, "middle"}, fmt::format("{:.6g}", value));
  }
  svg += fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" class=\"border\"/>\n", kLeft, kTop,
                     kTop + kPlotHeight, kLeft + kPlotWidth);
  return svg + svg_text({8, kTop - 20}, y_.name) +
         svg_text({kLeft + kPlotWidth, kTop + kPlotHeight + 38, "end"}, x_.name);
}

std::string PlotArea::svg(std::string_view label, std::string_view drawn) const {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}{}</svg>\n",
                     kWidth, kHeight, escaped_markup(label), grid(), drawn);
}

}  // namespace cloze::formats
