#include "cli/report/report_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/byte_size.h"
#include "base/division.h"
#include "formats/html_page.h"
#include "formats/markup.h"
#include "formats/plot.h"

namespace cloze::cli {
namespace {

using formats::svg_text;
using plan::Arena;
using plan::LaunchUse;
using plan::Program;
using plan::ProgramUse;

// All in user units.
constexpr double kWidth = 960;
// The picture of memory.
constexpr double kHeight = 420, kLeft = 70, kTop = 40, kPlotWidth = 870, kPlotHeight = 330;

constexpr size_t kMostGroups = 6;

struct Kind {
  Arena arena;
  const char* color;
};
constexpr std::array<Kind, 6> kLasting = {{{Arena::kParameters, "#33508f"},
                                           {Arena::kComputeCopies, "#5576b8"},
                                           {Arena::kOptimizerState, "#7d5ba6"},
                                           {Arena::kGradients, "#b07aa1"},
                                           {Arena::kMetrics, "#8d99a6"},
                                           {Arena::kInputs, "#a9b4be"}}};

MemoryBand lasting_band(const Program& program, const ProgramUse& use, const Kind& kind) {
  return {std::string(name_of(kind.arena)), kind.color,
          std::vector<int64_t>(use.launches.size(), program.bytes_of(kind.arena))};
}

MemoryBand layer_band(const ProgramUse& use, size_t first, size_t last, std::string name,
                      std::string color) {
  MemoryBand band{std::move(name), std::move(color), {}};
  for (const LaunchUse& launch : use.launches) {
    int64_t bytes = 0;
    for (size_t i = first; i <= last && i < launch.activation_bytes.size(); ++i) {
      bytes += launch.activation_bytes[i];
    }
    band.bytes.push_back(bytes);
  }
  return band;
}

// Entry 0 is what is outside the layers.
void add_activations(const ProgramUse& use, std::vector<MemoryBand>& bands) {
  size_t layers = 0;
  for (const LaunchUse& launch : use.launches) {
    layers = std::max(layers, launch.activation_bytes.size() - 1);
  }
  bands.push_back(layer_band(use, 0, 0, "activations outside the layers", "#e8a33d"));
  const size_t size = std::max<size_t>(1, divide_up(layers, kMostGroups));
  for (size_t first = 1; first <= layers; first += size) {
    const size_t last = std::min(layers, first + size - 1);
    const std::string name =
        first == last ? fmt::format("activations of layer {}", first - 1)
                      : fmt::format("activations of layers {} to {}", first - 1, last - 1);
    const double share = static_cast<double>(first - 1) / static_cast<double>(layers);
    bands.push_back(
        layer_band(use, first, last, name,
                   fmt::format("hsl({:.0f} 55% {:.0f}%)", 150 + 40 * share, 32 + 30 * share)));
  }
}

class Picture {
 public:
  Picture(const ProgramUse& use, const std::vector<MemoryBand>& bands)
      : use_(use), tops_(use.launches.size(), 0) {
    for (const MemoryBand& band : bands) {
      for (size_t i = 0; i < tops_.size(); ++i) tops_[i] += band.bytes[i];
    }
    most_ = mebibytes(tops_.empty() ? 1 : *std::ranges::max_element(tops_));
  }

  // The area between `below` and `below` plus the band's own bytes; `below` then becomes that sum.
  std::string area(const MemoryBand& band, std::vector<int64_t>& below) const {
    std::vector<int64_t> above = below;
    for (size_t i = 0; i < above.size(); ++i) above[i] += band.bytes[i];
    std::string path = fmt::format("M{:.1f} {:.1f}", x(0), y(above.front()));
    for (size_t i = 0; i < above.size(); ++i) {
      if (i > 0 && above[i] != above[i - 1])
        path += fmt::format("H{:.1f}V{:.1f}", x(i), y(above[i]));
    }
    path += fmt::format("H{:.1f}V{:.1f}", x(above.size()), y(below.back()));
    for (size_t i = below.size() - 1; i > 0; --i) {
      if (below[i] != below[i - 1]) path += fmt::format("H{:.1f}V{:.1f}", x(i), y(below[i - 1]));
    }
    path += fmt::format("H{:.1f}Z", x(0));
    below = std::move(above);
    return fmt::format("<path d=\"{}\" fill=\"{}\"><title>{}: at most {:.1f} MiB</title></path>\n",
                       path, band.color, formats::escaped_markup(band.name),
                       mebibytes(band.most()));
  }

  std::string axes() const {
    const double tick = formats::tick_of(most_);
    std::string svg;
    for (double value = 0.0; value <= most_; value += tick) {
      const double height = y(static_cast<int64_t>(value * (1 << 20)));
      svg += fmt::format("<path d=\"M{} {:.1f}H{}\" class=\"grid\"/>\n", kLeft, height,
                         kLeft + kPlotWidth);
      svg += svg_text({kLeft - 8, height + 4, "end"}, fmt::format("{:g}", value));
    }
    return svg + svg_text({8, kTop - 22}, "MiB");
  }

  std::string phases(const Program& program) const {
    std::string svg;
    for (size_t i = 0; i < use_.launches.size(); ++i) {
      const graph::Phase phase = use_.launches[i].node->phase;
      if (i > 0 && phase == use_.launches[i - 1].node->phase) continue;
      size_t end = i;
      while (end < use_.launches.size() && use_.launches[end].node->phase == phase) ++end;
      svg += fmt::format("<path d=\"M{:.1f} {}V{}\" class=\"border\"/>\n", x(i), kTop,
                         kTop + kPlotHeight + 6);
      const std::string& name = program.graph.phases()[static_cast<size_t>(phase.index)];
      svg += svg_text({(x(i) + x(end)) / 2, kTop + kPlotHeight + 22, "middle"},
                      fmt::format("{}: launches {} to {}", name, i, end - 1));
    }
    return svg;
  }

  std::string peak() const {
    if (use_.launches.empty()) return "";
    const double at = (x(use_.peak) + x(use_.peak + 1)) / 2;
    const bool is_right = at > kLeft + kPlotWidth / 2;
    return fmt::format("<path d=\"M{0:.1f} {1}V{2}\" class=\"peak\"/>\n", at, kTop - 12,
                       kTop + kPlotHeight) +
           svg_text({at + (is_right ? -6 : 6), kTop - 16, is_right ? "end" : "start"},
                    fmt::format("peak {:.1f} MiB: launch {}, {}", mebibytes(tops_[use_.peak]),
                                use_.peak, use_.launches[use_.peak].node->name()));
  }

 private:
  double x(size_t launch) const {
    return kLeft + kPlotWidth * static_cast<double>(launch) / static_cast<double>(tops_.size());
  }
  double y(int64_t bytes) const { return kTop + kPlotHeight * (1 - mebibytes(bytes) / most_); }

  const ProgramUse& use_;
  std::vector<int64_t> tops_;
  double most_ = 1.0;  // MiB
};

// The picture of times.
constexpr double kNameWidth = 240, kBarWidth = 520, kRowHeight = 38, kBarHeight = 15;

std::string bar(double y, double seconds, double longest, const char* kind) {
  if (seconds <= 0.0) return "";
  const double width = std::max(1.0, kBarWidth * seconds / longest);
  return fmt::format(
      "<rect x=\"{0}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3}\" class=\"{4}\"/>"
      "<text x=\"{5:.1f}\" y=\"{6:.1f}\">{7:.2f} ms {4}</text>\n",
      kNameWidth, y, width, kBarHeight, kind, kNameWidth + width + 6, y + kBarHeight - 3,
      seconds * 1e3);
}

}  // namespace

int64_t MemoryBand::most() const { return bytes.empty() ? 0 : *std::ranges::max_element(bytes); }

std::vector<MemoryBand> memory_bands(const Program& program, const ProgramUse& use) {
  std::vector<MemoryBand> bands;
  for (const Kind& kind : kLasting) bands.push_back(lasting_band(program, use, kind));
  add_activations(use, bands);
  MemoryBand workspace{"workspace", "#c9503c", {}};
  for (const LaunchUse& launch : use.launches) workspace.bytes.push_back(launch.workspace_bytes);
  bands.push_back(std::move(workspace));
  std::erase_if(bands, [](const MemoryBand& band) { return band.most() == 0; });
  return bands;
}

std::string memory_picture(const Program& program, const ProgramUse& use,
                           const std::vector<MemoryBand>& bands) {
  const Picture picture(use, bands);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Memory over the program\">\n", kWidth,
      kHeight);
  std::vector<int64_t> below(use.launches.size(), 0);
  for (const MemoryBand& band : bands) svg += picture.area(band, below);
  return svg + picture.axes() + picture.phases(program) + picture.peak() + "</svg>\n";
}

std::vector<OperatorTime> operator_times(const plan::ProgramUse& use, int64_t micro_batches,
                                         const forecast::StepSeconds& estimated,
                                         const forecast::StepSeconds& measured) {
  std::map<std::string, OperatorTime> rows;
  for (size_t i = 0; i < use.launches.size(); ++i) {
    const plan::LaunchUse& launch = use.launches[i];
    OperatorTime& row = rows[std::string(launch.launch->op->name)];
    const int64_t calls = forecast::calls_in_step(launch, micro_batches);
    const auto times = static_cast<double>(calls);
    row.calls += calls;
    row.flops += times * launch.launch->flops;
    row.bytes += times * static_cast<double>(launch.bytes_read + launch.bytes_written);
    if (!estimated.calls.empty()) row.estimated += times * estimated.calls[i];
    if (!measured.calls.empty()) row.measured += times * measured.calls[i];
  }
  if (estimated.host + measured.host > 0.0) {
    rows[forecast::kHostWork] = {
        .calls = 1, .estimated = estimated.host, .measured = measured.host};
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
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       kNameWidth - 8, y + kBarHeight + 4, formats::escaped_markup(times[i].name));
    svg += bar(y, times[i].estimated, longest, "estimated");
    svg += bar(y + kBarHeight + 1, times[i].measured, longest, "measured");
  }
  return svg + "</svg>\n";
}

}  // namespace cloze::cli
