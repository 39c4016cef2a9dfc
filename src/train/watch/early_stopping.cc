#include "train/watch/early_stopping.h"

#include <fmt/format.h>

#include <cmath>

namespace cloze::train {

void EarlyStoppingState::take(double score, const EarlyStoppingOptions& options) {
  const bool gains = std::isfinite(score) && (!gained || score - options.min_gain > *gained);
  if (gains) gained = score;
  without_gain = gains ? 0 : without_gain + 1;
}

std::string EarlyStoppingState::reason(const EarlyStoppingOptions& options) const {
  if (!gained) return fmt::format("none of {} evaluations gave a number", without_gain);
  const std::string last = without_gain == 1
                               ? "the last evaluation"
                               : fmt::format("none of the last {} evaluations", without_gain);
  const char* const verb = without_gain == 1 ? "does not exceed" : "exceeds";
  const std::string by =
      options.min_gain > 0.0 ? fmt::format(" by more than {}", options.min_gain) : "";
  return fmt::format("{} {} {:.4f}{}", last, verb, *gained, by);
}

}  // namespace cloze::train
