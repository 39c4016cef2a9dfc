#include "train/metrics/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "train/watch/step_watch.h"

namespace cloze::train {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kWindowSeconds = 60;
constexpr int64_t kWindowSteps = 20;  // of a window at least, however long they took
constexpr int kBarCells = 20;
constexpr const char* kClearLine = "\r\x1b[K";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kPlain = "\x1b[0m";

// Most important first: a narrow terminal drops the last ones.
std::vector<std::string> fields_of(const StepMetrics& m, int64_t total_steps, double seconds_left) {
  std::vector<std::string> fields{fmt::format("step {}/{}", m.step, total_steps),
                                  fmt::format("loss {:.4f}", m.loss),
                                  fmt::format("eta {}", duration_text(seconds_left))};
  for (const LossValue& part : m.losses) {
    std::string field = fmt::format("{} {:.4f}", part.name, part.loss);
    if (part.accuracy) field += fmt::format(" {:.1f}%", 100 * *part.accuracy);
    fields.push_back(std::move(field));
  }
  if (m.high_losses >= kHighLossSteps) {
    fields.push_back(fmt::format("worse than untrained since step {}", m.step - m.high_losses + 1));
  }
  if (m.skipped_steps > 0) fields.push_back(fmt::format("{} skipped", m.skipped_steps));
  fields.push_back(fmt::format("{:.0f} tokens/s", m.tokens_per_second));
  fields.push_back(fmt::format("{:.1f} sequences/s", m.sequences_per_second));
  fields.push_back(fmt::format("lr {:.3e}", m.learning_rate));
  if (m.loss_scale != 1.0) fields.push_back(fmt::format("loss scale {}", m.loss_scale));
  return fields;
}

std::string joined(const std::vector<std::string>& fields, size_t columns) {
  std::string line;
  for (const std::string& field : fields) {
    const size_t separator = line.empty() ? 0 : 2;
    if (line.size() + separator + field.size() > columns) break;
    line.append(separator, ' ').append(field);
  }
  return line;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto total = static_cast<int64_t>(std::lround(seconds));
  const int64_t minutes = total / 60;
  const int64_t hours = total / 3600;
  if (total < 60) return fmt::format("{}s", total);
  if (hours < 1) return fmt::format("{}:{:02}", minutes, total % 60);
  if (hours < 24) return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, total % 60);
  return fmt::format("{}d {:02}:{:02}", hours / 24, hours % 24, minutes % 60);
}

Progress::Progress(std::ostream& out, ProgressOptions options)
    : out_(out), options_(std::move(options)) {}

void Progress::write(const StepMetrics& metrics) {
  const double now = options_.clock();
  latest_ = metrics;
  window_.push_back({now, metrics.step});
  while (window_.size() > 2 && now - window_[1].seconds >= kWindowSeconds &&
         metrics.step - window_[1].step >= kWindowSteps) {
    window_.pop_front();
  }
  if (!is_due(now, metrics.step)) return;
  last_shown_seconds_ = now;
  show(metrics);
}

bool Progress::is_due(double now, int64_t step) const {
  if (last_shown_step_ < 0 || step >= options_.total_steps) return true;
  const double period = options_.redraws ? kRedrawSeconds : options_.seconds_between_lines;
  return now - last_shown_seconds_ >= period;
}

void Progress::show(const StepMetrics& metrics) {
  last_shown_step_ = metrics.step;
  const auto fields = fields_of(metrics, options_.total_steps, seconds_left(metrics.step));
  if (options_.redraws) {
    out_ << kClearLine << bar(metrics, fields) << std::flush;
  } else {
    out_ << joined(fields, std::string::npos) << '\n' << std::flush;
  }
}

std::string Progress::bar(const StepMetrics& metrics,
                          const std::vector<std::string>& fields) const {
  const int64_t total = std::max<int64_t>(options_.total_steps, 1);
  const double share =
      std::clamp(static_cast<double>(metrics.step) / static_cast<double>(total), 0.0, 1.0);
  const auto filled = static_cast<size_t>(share * kBarCells);
  const std::string cells = std::string(filled, '#') + std::string(kBarCells - filled, '-');
  const size_t columns = static_cast<size_t>(std::max(options_.columns - 1, 1));
  const size_t bar_columns = kBarCells + 4;  // two brackets, two spaces
  if (columns < bar_columns + fields.front().size()) return joined(fields, columns);
  const std::string text = joined(fields, columns - bar_columns);
  if (!options_.has_color) return fmt::format("[{}]  {}", cells, text);
  return fmt::format("{}[{}]{}  {}", kGreen, cells, kPlain, text);
}

double Progress::seconds_left(int64_t step) const {
  const Moment& first = window_.front();
  const Moment& last = window_.back();
  if (last.step <= first.step) return -1;
  const double seconds_per_step =
      (last.seconds - first.seconds) / static_cast<double>(last.step - first.step);
  return seconds_per_step * static_cast<double>(std::max<int64_t>(options_.total_steps - step, 0));
}

void Progress::finish() {
  if (!window_.empty() && last_shown_step_ != latest_.step) show(latest_);
  if (options_.redraws && last_shown_step_ >= 0) out_ << '\n';
  out_ << std::flush;
}

void Progress::clear() {
  if (options_.redraws) out_ << kClearLine << std::flush;
}

}  // namespace cloze::train
