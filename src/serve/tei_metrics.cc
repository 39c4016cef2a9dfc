#include "serve/tei_metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace cloze::serve {
namespace {

Histogram of_seconds() {
  std::vector<double> bounds;
  for (int k = 0; k < 35; ++k) bounds.push_back(1.5e-5 * std::pow(1.5, k));
  return Histogram(std::move(bounds));
}

Histogram of_counts(double most) {
  std::vector<double> bounds;
  for (double bound = 1; bound <= most; bound *= 2) bounds.push_back(bound);
  return Histogram(std::move(bounds));
}

std::string histogram(const std::string& name, const Histogram& values) {
  return "# TYPE " + name + " histogram\n" + values.prometheus(name);
}

std::string counter(const std::string& name, int64_t value) {
  return fmt::format("# TYPE {0} counter\n{0} {1}\n", name, value);
}

std::string by_method(const std::string& name, const std::array<int64_t, 2>& counts) {
  return fmt::format(
      "# TYPE {0} counter\n{0}{{method=\"single\"}} {1}\n{0}{{method=\"batch\"}} {2}\n", name,
      counts[0], counts[1]);
}

std::string milliseconds(double seconds) {
  return fmt::format("{}", static_cast<int64_t>(1000 * seconds));
}

}  // namespace

TeiMetrics::TeiMetrics()
    : durations_{of_seconds(), of_seconds(), of_seconds(), of_seconds()},
      embed_{.durations = durations_},
      predict_{.durations = durations_},
      input_length_(of_counts(1 << 15)),
      batch_size_(of_counts(1 << 11)),
      batch_tokens_(of_counts(1 << 20)) {}

void TeiMetrics::Durations::add(const RequestUse& use) {
  all.add(use.seconds);
  tokens.add(use.token_seconds);
  queue.add(use.times.waited);
  inference.add(use.times.worked);
}

std::string TeiMetrics::Durations::prometheus(const std::string& name) const {
  return histogram(name + "_duration", all) + histogram(name + "_tokenization_duration", tokens) +
         histogram(name + "_queue_duration", queue) +
         histogram(name + "_inference_duration", inference);
}

void TeiMetrics::count_good(const RequestUse& use) {
  const std::lock_guard lock(mutex_);
  ++count_[use.is_batch];
  ++success_[use.is_batch];
  durations_.add(use);
  OfWork& work = of(use.work);
  work.count += use.inputs;
  work.success += use.inputs;
  work.durations.add(use);
  if (use.tokens > 0) {
    input_length_.add(static_cast<double>(use.tokens) / static_cast<double>(use.inputs));
  }
}

void TeiMetrics::count_failed(const RequestUse& use, Trouble trouble) {
  const std::lock_guard lock(mutex_);
  ++count_[use.is_batch];
  of(use.work).count += use.inputs;
  ++failures_[std::string(tei_name(trouble))];
}

void TeiMetrics::count_batch(BatchSize size) {
  const std::lock_guard lock(mutex_);
  batch_size_.add(static_cast<double>(size.inputs));
  if (size.tokens > 0) batch_tokens_.add(static_cast<double>(size.tokens));
}

std::string TeiMetrics::prometheus(int64_t waiting_inputs) const {
  const std::lock_guard lock(mutex_);
  std::string text =
      by_method("te_request_count", count_) + by_method("te_request_success", success_);
  text += "# TYPE te_request_failure counter\n";
  for (const auto& [err, count] : failures_) {
    fmt::format_to(std::back_inserter(text), "te_request_failure{{err=\"{}\"}} {}\n", err, count);
  }
  text += durations_.prometheus("te_request");
  for (const auto& [name, work] : {std::pair<std::string, const OfWork&>("te_embed", embed_),
                                   std::pair<std::string, const OfWork&>("te_predict", predict_)}) {
    text += counter(name + "_count", work.count) + counter(name + "_success", work.success) +
            work.durations.prometheus(name);
  }
  text += histogram("te_request_input_length", input_length_) +
          histogram("te_batch_next_size", batch_size_) +
          histogram("te_batch_next_tokens", batch_tokens_);
  fmt::format_to(std::back_inserter(text), "# TYPE te_queue_size gauge\nte_queue_size {}\n",
                 waiting_inputs);
  return text;
}

void add_use_fields(const RequestUse& use, int64_t characters, Response& response) {
  response.fields.insert(response.fields.end(),
                         {{"x-compute-time", milliseconds(use.seconds)},
                          {"x-compute-characters", fmt::format("{}", characters)},
                          {"x-compute-tokens", fmt::format("{}", use.tokens)},
                          {"x-total-time", milliseconds(use.seconds)},
                          {"x-tokenization-time", milliseconds(use.token_seconds)},
                          {"x-queue-time", milliseconds(use.times.waited)},
                          {"x-inference-time", milliseconds(use.times.worked)}});
}

}  // namespace cloze::serve
