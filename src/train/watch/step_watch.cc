#include "train/watch/step_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cloze::train {
namespace {

constexpr std::array kNames = {"ignore", "warn", "skip", "roll_back", "stop"};
constexpr double kDeviations = 6.0;
constexpr int64_t kWindow = 128;
constexpr int64_t kFewest = kWindow / 2;
constexpr double kHighShare = 1.1;

}  // namespace

std::vector<std::string> watch_policy_names(WatchPolicy first) {
  return {kNames.begin() + static_cast<int>(first), kNames.end()};
}

std::string watch_policy_name(WatchPolicy policy) { return kNames.at(static_cast<size_t>(policy)); }

WatchPolicy watch_policy_named(const std::string& name) {
  return static_cast<WatchPolicy>(std::ranges::find(kNames, name) - kNames.begin());
}

double LossStatistics::limit() const {
  if (count < kFewest) return std::numeric_limits<double>::infinity();
  return mean + kDeviations * std::sqrt(variance);
}

void LossStatistics::take(double loss) {
  const double difference = std::min(loss, limit()) - mean;
  ++count;
  const double share = 1.0 / static_cast<double>(std::min(count, kWindow));
  mean += share * difference;
  variance = (1.0 - share) * (variance + share * difference * difference);
}

bool is_high_loss(double loss, double untrained) { return loss > kHighShare * untrained; }

}  // namespace cloze::train
