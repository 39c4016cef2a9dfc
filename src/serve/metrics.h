// Counts what a server has done: numbers for GET /metrics, and a line for its log. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cloze::serve {

// Counts of values by upper bound, as Prometheus has them.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);  // ascending

  void add(double value);
  int64_t count() const { return count_; }
  double mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
  // The smallest bound that at least this share of the values does not exceed; infinity when none
  // does.
  double bound_of_share(double share) const;
  void clear();
  // Lines NAME_bucket{le="..."}, NAME_sum and NAME_count.
  std::string prometheus(std::string_view name) const;

 private:
  std::vector<double> bounds_;
  std::vector<int64_t> counts_;  // of each bound, and of what is above the last
  int64_t count_ = 0;
  double sum_ = 0.0;
};

class Metrics {
 public:
  struct Reply {
    std::string path;  // of those the server has, else "other"
    int status = 0;
    double seconds = 0.0;  // from the last byte of the header to the reply
  };
  struct Gauges {
    int64_t waiting_inputs = 0;
    int64_t connections = 0;
  };

  void count(const Reply& reply);
  void count_batch(int64_t inputs);

  // The text format of Prometheus, version 0.0.4.
  std::string prometheus(const Gauges& gauges) const;

  // "1204 requests: 1200 good, 4 refused (4xx), 0 failed (5xx); half within 5 ms, 99 % within 20
  // ms; 8.1 inputs a batch" since the last call; "" when there were none.
  std::string take_summary();

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::pair<std::string, int>, int64_t> replies_;
  Histogram seconds_{{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30}};
  Histogram batch_inputs_{{1, 2, 4, 8, 16, 32, 64, 128}};
  Histogram recent_seconds_ = seconds_;  // since the last summary, like the next two
  Histogram recent_inputs_ = batch_inputs_;
  std::map<int, int64_t> recent_classes_;  // 2, 4, 5: hundreds of the status
};

}  // namespace cloze::serve
