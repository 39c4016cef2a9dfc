#include "cli/plan/operator_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/markup.h"

namespace cloze::cli {
namespace {

// All in user units.
constexpr double kWidth = 960, kLeft = 240, kBarWidth = 520, kRowHeight = 30, kBarHeight = 11;

std::string bar(double y, double seconds, double longest, const char* kind) {
  if (seconds <= 0.0) return "";
  const double width = std::max(1.0, kBarWidth * seconds / longest);
  return fmt::format(
      "<rect x=\"{0}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3}\" class=\"{4}\"/>"
      "<text x=\"{5:.1f}\" y=\"{6:.1f}\">{7:.2f} ms {4}</text>\n",
      kLeft, y, width, kBarHeight, kind, kLeft + width + 6, y + kBarHeight - 1, seconds * 1e3);
}

}  // namespace

std::vector<OperatorTime> operator_times(const plan::ProgramUse& use, int64_t micro_batches,
                                         const StepSeconds& estimated,
                                         const StepSeconds& measured) {
  std::map<std::string, OperatorTime> rows;
  for (size_t i = 0; i < use.launches.size(); ++i) {
    const plan::LaunchUse& launch = use.launches[i];
    OperatorTime& row = rows[std::string(launch.launch->op->name)];
    const int64_t calls = calls_in_step(launch, micro_batches);
    const auto times = static_cast<double>(calls);
    row.calls += calls;
    row.flops += times * launch.launch->flops;
    row.bytes += times * static_cast<double>(launch.bytes_read + launch.bytes_written);
    if (!estimated.calls.empty()) row.estimated += times * estimated.calls[i];
    if (!measured.calls.empty()) row.measured += times * measured.calls[i];
  }
  if (estimated.host + measured.host > 0.0) {
    rows[kHostWork] = {.calls = 1, .estimated = estimated.host, .measured = measured.host};
  }
  std::vector<OperatorTime> times;
  for (auto& [name, row] : rows) {
    row.name = name;
    times.push_back(std::move(row));
  }
  std::ranges::stable_sort(times, std::greater<>(), &OperatorTime::seconds);
  return times;
}

std::string time_picture(const std::vector<OperatorTime>& times) {
  double longest = 1e-12;
  for (const OperatorTime& row : times) longest = std::max({longest, row.estimated, row.measured});
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Time of each operator\">\n",
                  kWidth, kRowHeight * static_cast<double>(times.size()));
  for (size_t i = 0; i < times.size(); ++i) {
    const double y = kRowHeight * static_cast<double>(i) + 3;
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                       y + kBarHeight + 4, formats::escaped_markup(times[i].name));
    svg += bar(y, times[i].estimated, longest, "estimated");
    svg += bar(y + kBarHeight + 1, times[i].measured, longest, "measured");
  }
  return svg + "</svg>\n";
}

}  // namespace cloze::cli
