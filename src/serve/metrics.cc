#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace cloze::serve {
namespace {

// "half within 5 ms"
std::string within(const Histogram& seconds, double share) {
  const double bound = seconds.bound_of_share(share);
  return std::isinf(bound) ? "over 30 s" : fmt::format("within {:g} ms", 1000 * bound);
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::add(double value) {
  ++counts_[std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin()];
  ++count_;
  sum_ += value;
}

double Histogram::bound_of_share(double share) const {
  int64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    if (static_cast<double>(below) >= share * static_cast<double>(count_)) return bounds_[i];
  }
  return std::numeric_limits<double>::infinity();
}

void Histogram::clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = 0;
  sum_ = 0.0;
}

std::string Histogram::prometheus(std::string_view name) const {
  std::string text;
  const auto out = std::back_inserter(text);
  int64_t below = 0;
  for (size_t i = 0; i < bounds_.size(); ++i) {
    below += counts_[i];
    fmt::format_to(out, "{}_bucket{{le=\"{}\"}} {}\n", name, bounds_[i], below);
  }
  fmt::format_to(out, "{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}\n{}_count {}\n", name, count_, name,
                 sum_, name, count_);
  return text;
}

void Metrics::count(const Reply& reply) {
  const std::lock_guard lock(mutex_);
  ++replies_[{reply.path, reply.status}];
  ++recent_classes_[reply.status / 100];
  seconds_.add(reply.seconds);
  recent_seconds_.add(reply.seconds);
}

void Metrics::count_batch(int64_t inputs) {
  const std::lock_guard lock(mutex_);
  batch_inputs_.add(static_cast<double>(inputs));
  recent_inputs_.add(static_cast<double>(inputs));
}

std::string Metrics::prometheus(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "# HELP cloze_requests_total Requests answered, by path and status.\n"
      "# TYPE cloze_requests_total counter\n";
  const auto out = std::back_inserter(text);
  for (const auto& [key, count] : replies_) {
    fmt::format_to(out, "cloze_requests_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first,
                   key.second, count);
  }
  fmt::format_to(out,
                 "# HELP cloze_waiting_inputs Inputs in the queue.\n"
                 "# TYPE cloze_waiting_inputs gauge\ncloze_waiting_inputs {}\n"
                 "# HELP cloze_connections Connections that are open.\n"
                 "# TYPE cloze_connections gauge\ncloze_connections {}\n",
                 gauges.waiting_inputs, gauges.connections);
  text +=
      "# HELP cloze_request_seconds From the header of a request to its reply.\n"
      "# TYPE cloze_request_seconds histogram\n" +
      seconds_.prometheus("cloze_request_seconds") +
      "# HELP cloze_batch_inputs Inputs that were run together.\n"
      "# TYPE cloze_batch_inputs histogram\n" +
      batch_inputs_.prometheus("cloze_batch_inputs");
  return text;
}

std::string Metrics::take_summary() {
  const std::lock_guard lock(mutex_);
  if (recent_seconds_.count() == 0) return "";
  std::string line =
      fmt::format("{} requests: {} good, {} refused (4xx), {} failed (5xx); half {}, 99 % {}",
                  recent_seconds_.count(), recent_classes_[2], recent_classes_[4],
                  recent_classes_[5], within(recent_seconds_, 0.5), within(recent_seconds_, 0.99));
  if (recent_inputs_.count() > 0)
    line += fmt::format("; {:.1f} inputs a batch", recent_inputs_.mean());
  recent_seconds_.clear();
  recent_inputs_.clear();
  recent_classes_.clear();
  return line;
}

}  // namespace cloze::serve
